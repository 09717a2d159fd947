// SPDX-License-Identifier: Apache-2.0
//
// The cluster's own placement of a task graph, and random graphs for it.
#pragma once

#include "cluster/placement/placement.hpp"
#include "schedule.hpp"

namespace cluster {

struct Placed {
  std::vector<size_t> node;
  std::vector<uint64_t> order;  // the order in which a node starts ready tasks
};

// The core gets the tasks in the order of creation. No task ends meanwhile.
Placed place_by_core(const TaskGraph& graph, uint64_t window, marline::offload::cluster::PlacementPolicy policy);
Schedule run_placement(const TaskGraph& graph, const Placed& placed);

// A task reads each of the `width` tasks before it with a probability of 1.5 / width.
TaskGraph make_random(unsigned seed, size_t tasks, size_t nodes, size_t width);

}  // namespace cluster
