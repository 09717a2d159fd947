// SPDX-License-Identifier: Apache-2.0
//
// Prefetching a cache line. Any thread, any address, also an invalid one: a prefetch has no effect that a program could
// see.
#pragma once

namespace marline {

inline void prefetch_for_read(const void* address) { __builtin_prefetch(address, 0); }

// The line is asked for as its only owner: writing it later costs no second trip to the core that has it.
inline void prefetch_for_write(const void* address) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(address)));  // the builtin would be a read: no -mprfchw
#else
  __builtin_prefetch(address, 1);
#endif
}

}  // namespace marline
