// SPDX-License-Identifier: Apache-2.0
//
// marline_counters_read of include/marline/marline.h. Any thread.
#include "marline/marline.h"

#include "exec/counters.hpp"

#include <algorithm>
#include <cstring>

static_assert(sizeof(marline_counters_t) == sizeof(marline::CounterSums));

extern "C" [[gnu::visibility("default")]] void marline_counters_read(marline_counters_t* out, size_t bytes) {
  marline::CounterSums sums = marline::counters_read();
  std::memset(out, 0, bytes);
  std::memcpy(out, &sums, std::min(bytes, sizeof sums));
}
