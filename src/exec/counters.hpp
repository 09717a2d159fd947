// SPDX-License-Identifier: Apache-2.0
//
// The discovery counters of the process: the sum of all workers' own (task/discovery_counters.hpp).
#pragma once

#include <cstdint>

namespace marline {

// marline_counters_t of marline.h, word for word; the order never changes, new words come last.
struct CounterSums {
  uint64_t tasks, dependences, edges, pruned, duplicate, transitive, nodes, lookups, probes, rebuilds;
};

// Any thread, any time. Exact for what has happened before: of a region that has ended, for instance.
CounterSums counters_read();

// For MARLINE_COUNTERS: a table on stderr.
void counters_print();

}  // namespace marline
