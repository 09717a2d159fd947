// SPDX-License-Identifier: Apache-2.0
//
// How long suspended tasks that must continue on their own thread (tied tasks) wait for this thread when they are
// ready. Not measured before the first call of marline_tied_waits.
//
// There is no room in a task for a time, and none is needed: the sum of the waits is the sum of the times at which
// tasks were taken up, less the sum of the times at which they became ready. One object per worker; any thread may make
// the worker's tasks ready.
#pragma once

#include "base/atomic.hpp"
#include "base/clock.hpp"

#include <cstdint>

namespace marline {

// Written once, to true; a thread that does not see it yet leaves a few tasks out.
extern Atomic<bool> g_measures_tied_waits;

struct TiedWaits {
  Atomic<uint64_t> ready{0};        // tasks
  Atomic<uint64_t> ready_sum{0};    // of the times at which they became ready, in nanoseconds, modulo 2^64
  Atomic<uint64_t> resumed{0};      // of those; owner only
  Atomic<uint64_t> resumed_sum{0};  // of the times at which they were taken up; owner only

  void count_ready() {
    ready.fetch_add(1, relaxed);
    ready_sum.fetch_add(nanoseconds_now(), relaxed);
  }
  void count_resumed() {
    if (resumed.load(relaxed) == ready.load(relaxed)) return;  // became ready before this was measured
    resumed.store(resumed.load(relaxed) + 1, relaxed);
    resumed_sum.store(resumed_sum.load(relaxed) + nanoseconds_now(), relaxed);
  }
};

}  // namespace marline
