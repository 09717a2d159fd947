// SPDX-License-Identifier: Apache-2.0
//
// Measures how long suspended tasks that must continue on their own thread (tied tasks) wait for this thread once they
// are ready. Not measured before the first call of marline_tied_waits.
//
// A task has no room for a time, and needs none: the sum of the waits is the sum of the times at which tasks were
// resumed, minus the sum of the times at which they became ready. One object per worker; any thread may make the
// worker's tasks ready.
#pragma once

#include "base/atomic.hpp"
#include "base/clock.hpp"

#include <cstdint>

namespace marline {

// Written once, to true; a thread that does not see it yet misses a few tasks.
extern Atomic<bool> g_measures_tied_waits;

struct TiedWaits {
  Atomic<uint64_t> ready{0};        // number of tasks that became ready
  Atomic<uint64_t> ready_sum{0};    // sum of the times at which they became ready, in nanoseconds, modulo 2^64
  Atomic<uint64_t> resumed{0};      // how many of them were resumed; owner only
  Atomic<uint64_t> resumed_sum{0};  // sum of the times at which they were resumed; owner only

  void count_ready() {
    ready.fetch_add(1, relaxed);
    ready_sum.fetch_add(nanoseconds_now(), relaxed);
  }
  void count_resumed() {
    if (resumed.load(relaxed) == ready.load(relaxed)) return;  // the task became ready before the measurement began
    resumed.store(resumed.load(relaxed) + 1, relaxed);
    resumed_sum.store(resumed_sum.load(relaxed) + nanoseconds_now(), relaxed);
  }
};

}  // namespace marline
