// SPDX-License-Identifier: Apache-2.0
//
// Prefetches a cache line. Any thread; any address, even an invalid one: a prefetch has no effect that a program can
// see.
#pragma once

namespace marline {

// Requests the line for exclusive ownership: a later write needs no second transfer from the core that has the line.
inline void prefetch_for_write(const void* address) {
#if defined(__x86_64__)
  // Not the builtin: it would be a read without -mprfchw.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(address)));
#else
  __builtin_prefetch(address, 1);
#endif
}

}  // namespace marline
