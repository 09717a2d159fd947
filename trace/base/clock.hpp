// SPDX-License-Identifier: Apache-2.0
//
// Reads the raw cycle counter: constant rate, readable without a system call, comparable between the CPUs of one
// machine. Not serialising on purpose: a record's time may be a few cycles early, but a fence would cost more than
// that.
#ifndef MARLINE_TRACE_CLOCK_HPP
#define MARLINE_TRACE_CLOCK_HPP

#include <stdint.h>
#include <time.h>

namespace marline::trace {

inline uint64_t read_cycles() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#else
#error "no cycle counter is known for this architecture: add it here"
#endif
}

inline uint64_t now_ns(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

// One moment on both clocks. Two such moments give the counter's frequency.
struct ClockPair {
  uint64_t cycles;
  uint64_t monotonic_ns;
};

inline ClockPair read_clock_pair() {
  ClockPair best{};
  uint64_t width = UINT64_MAX;
  for (int i = 0; i < 8; ++i) {  // keeps the shortest of a few readings, because an interrupt may spoil one
    const uint64_t before = read_cycles();
    const uint64_t now = now_ns(CLOCK_MONOTONIC);
    const uint64_t after = read_cycles();
    if (after - before < width) {
      width = after - before;
      best = {before + width / 2, now};
    }
  }
  return best;
}

// One exchange of clock readings with rank 0: this rank read `local` between rank 0's `sent` and `received`.
struct ClockSample {
  uint64_t local;
  uint64_t sent;
  uint64_t received;
};

}  // namespace marline::trace

#endif
