// SPDX-License-Identifier: Apache-2.0
//
// Task graphs with known times and sizes, and schedules of them on equal nodes that run one task at a time: by offline
// heuristics, and by any placement. A transfer begins when its producer ends, takes latency and size, and goes once to
// a node; transfers do not hinder one another. Times without unit; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace cluster {

struct GraphTask {
  double time = 1;
  uint64_t bytes = 0;          // of its output
  std::vector<size_t> inputs;  // tasks, created before
};

struct TaskGraph {
  std::string name;
  std::vector<GraphTask> tasks;  // in the order of creation
  size_t nodes = 2;
  double latency = 0.01, time_per_byte = 0.001;
};

struct Schedule {
  std::vector<size_t> node;  // of each task
  double makespan = 0;
  uint64_t bytes = 0;  // moved between nodes
};

// Each node runs the ready task with the least `order`; if these are equal, the task that was ready first.
Schedule run_placement(const TaskGraph& graph, const std::vector<size_t>& node, const std::vector<uint64_t>& order);

// The best of all placements: least makespan, then fewest bytes. Tries all nodes^tasks of them.
Schedule find_best(const TaskGraph& graph);

struct Heuristic {
  std::string name;
  std::function<Schedule(const TaskGraph&)> plan;
};
// Topcuoglu et al. 2002 (HEFT); Adam et al. 1974 (levels without communication); Ibarra and Kim 1977 (min-min,
// max-min); and the order of creation.
std::vector<Heuristic> offline_heuristics();

}  // namespace cluster
