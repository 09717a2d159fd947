// SPDX-License-Identifier: Apache-2.0
//
// The task graph of a model, from the patterns of bench/taskbench.
#include "model.hpp"

namespace cluster {

namespace {

std::vector<long> members(const IntervalSet& set) {
  std::vector<long> all;
  for (int k = 0; k < set.count; ++k) {
    for (long i = set.at[k].first; i <= set.at[k].last; ++i) all.push_back(i);
  }
  return all;
}

}  // namespace

size_t Workload::tasks() const {
  size_t sum = 0;
  for (long step = 0; step < graph.steps; ++step) sum += static_cast<size_t>(graph_width_at(&graph, step));
  return sum;
}

double Workload::work() const {
  double sum = 0;
  for (long step = 0; step < graph.steps; ++step) {
    for (long i = 0; i < graph_width_at(&graph, step); ++i) sum += time_of(step, i);
  }
  return sum;
}

std::vector<long> Workload::inputs(long step, long column) const {
  IntervalSet set;
  graph_dependences(&graph, step % graph.steps, column, &set);
  return members(set);
}

std::vector<long> Workload::readers(long step, long column) const {
  IntervalSet set;
  graph_readers(&graph, step % graph.steps, column, &set);
  return members(set);
}

}  // namespace cluster
