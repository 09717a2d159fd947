// SPDX-License-Identifier: Apache-2.0
//
// The counters of the process: the sum of all workers' own (task/discovery_counters.hpp, sched/tied_waits.hpp).
#pragma once

#include <cstdint>

namespace marline {

// marline_counters_t of marline.h, word for word; the order never changes, new words come last.
struct CounterSums {
  uint64_t tasks, dependences, edges, pruned, duplicate, transitive, nodes, lookups, probes, rebuilds;
};

// Any thread, any time. Exact for all events that are ordered before the call, for example those of a region that has
// ended.
CounterSums counters_read();

// How many tied tasks have been resumed, and for how many nanoseconds these had been ready; measured from the first
// call on.
struct TiedWaitSums {
  uint64_t resumptions, nanoseconds;
};
TiedWaitSums tied_waits_read();

// For MARLINE_COUNTERS: a table on stderr.
void counters_print();

}  // namespace marline
