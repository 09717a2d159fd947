// SPDX-License-Identifier: Apache-2.0
//
// Time: a cycle counter for short intervals on a hot path, and seconds for everything else. The only state is the
// counter's frequency, which is measured once.
#pragma once

#include <cstdint>

namespace marline {

// Ticks of the processor's constant-rate counter. Not ordered with the instructions around it.
inline uint64_t cycles() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
#error "no cycle counter for this architecture: add it here"
#endif
}

// The same, read when all earlier loads have got their values.
inline uint64_t cycles_after_loads() {
#if defined(__x86_64__)
  unsigned processor;
  return __builtin_ia32_rdtscp(&processor);
#else
  asm volatile("isb" ::: "memory");
  return cycles();
#endif
}

// About as many ticks of cycles() as there are in this time. For bounds, where a factor of two does not matter.
inline uint64_t cycles_about(uint64_t nanoseconds) {
#if defined(__x86_64__)
  return 3 * nanoseconds;
#else
  uint64_t per_second;
  asm volatile("mrs %0, cntfrq_el0" : "=r"(per_second));
  return nanoseconds * (per_second / 1'000'000) / 1000;
#endif
}

// Ticks of cycles() per second. The first call may take a millisecond, so do not make it on a hot path.
double cycles_per_second();

// Seconds since some fixed point in the past (CLOCK_MONOTONIC).
double wtime();

// The same in nanoseconds.
uint64_t nanoseconds_now();

}  // namespace marline
