// SPDX-License-Identifier: Apache-2.0
//
// marline_counters_read and marline_tied_waits of include/marline/marline.h. Any thread.
#include "marline/marline.h"

#include "exec/view/counters.hpp"

#include <algorithm>
#include <cstring>

static_assert(sizeof(marline_counters_t) == sizeof(marline::CounterSums));

extern "C" [[gnu::visibility("default")]] void marline_counters_read(marline_counters_t* out, size_t bytes) {
  marline::CounterSums sums = marline::counters_read();
  std::memset(out, 0, bytes);
  std::memcpy(out, &sums, std::min(bytes, sizeof sums));
}

extern "C" [[gnu::visibility("default")]] void marline_tied_waits(uint64_t* resumptions, uint64_t* nanoseconds) {
  marline::TiedWaitSums sums = marline::tied_waits_read();
  *resumptions = sums.resumptions;
  *nanoseconds = sums.nanoseconds;
}
