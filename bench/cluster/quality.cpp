// SPDX-License-Identifier: Apache-2.0
//
// How good the cluster's placement is: its makespan and the bytes that it moves, relative to the best placement of all
// on small random graphs, and to the best of five offline heuristics on larger ones.
//
//     cluster-quality [SMALL_GRAPHS]
extern "C" {
#include "../taskbench/graph.h"
}
#include "placed.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace cluster;
using marline::offload::cluster::PlacementPolicy;

TaskGraph make_pattern(Pattern pattern, long width, size_t nodes, double transfers) {
  Graph shape{.pattern = pattern, .width = width, .steps = 12, .radix = 3, .fraction = 1, .seed = 1};
  TaskGraph graph;
  graph.name = kPatternNames[pattern];
  graph.nodes = nodes;
  size_t before = 0;
  for (long step = 0; step < shape.steps; ++step) {
    size_t row = graph.tasks.size();
    for (long i = 0; i < graph_width_at(&shape, step); ++i) {
      GraphTask& task = graph.tasks.emplace_back();
      task.time = 0.5 + graph_uniform(1, 2, static_cast<uint64_t>(step), static_cast<uint64_t>(i));
      task.bytes = static_cast<uint64_t>(1000 * transfers);
      IntervalSet set;
      graph_dependences(&shape, step, i, &set);
      for (int k = 0; k < set.count; ++k) {
        for (long j = set.at[k].first; j <= set.at[k].last; ++j) task.inputs.push_back(before + static_cast<size_t>(j));
      }
    }
    before = row;
  }
  return graph;
}

struct Ratios {
  double sum = 0, most = 0, moved = 0, moved_best = 0;
  size_t count = 0;

  void add(const Schedule& ours, const Schedule& best) {
    double ratio = ours.makespan / best.makespan;
    sum += std::log(ratio);
    most = std::max(most, ratio);
    moved += static_cast<double>(ours.bytes);
    moved_best += static_cast<double>(best.bytes);
    ++count;
  }
  void print(const std::string& name) const {
    std::printf("%s_makespan %.3f x\n", name.c_str(), std::exp(sum / static_cast<double>(count)));
    std::printf("%s_worst %.3f x\n", name.c_str(), most);
    std::printf("%s_moved %.3f x\n", name.c_str(), moved_best == 0 ? 1 : moved / moved_best);
  }
};

void judge_small(unsigned graphs) {
  Ratios stream, window, owner;
  for (unsigned seed = 0; seed < graphs; ++seed) {
    TaskGraph graph = make_random(seed, 7, 2 + seed % 2, 3);
    Schedule best = find_best(graph);
    stream.add(run_placement(graph, place_by_core(graph, 0, PlacementPolicy::kEarliestEnd)), best);
    window.add(run_placement(graph, place_by_core(graph, 7, PlacementPolicy::kEarliestEnd)), best);
    owner.add(run_placement(graph, place_by_core(graph, 0, PlacementPolicy::kOwnerComputes)), best);
  }
  stream.print("small");
  window.print("small_window");
  owner.print("small_owner");
}

void judge_large(const std::string& name, const std::vector<TaskGraph>& graphs) {
  Ratios stream, window, odd;
  for (const TaskGraph& graph : graphs) {
    Schedule best;
    for (const Heuristic& heuristic : offline_heuristics()) {
      Schedule one = heuristic.plan(graph);
      if (best.node.empty() || one.makespan < best.makespan) best = one;
    }
    stream.add(run_placement(graph, place_by_core(graph, 0, PlacementPolicy::kEarliestEnd)), best);
    window.add(run_placement(graph, place_by_core(graph, 64, PlacementPolicy::kEarliestEnd)), best);
    odd.add(run_placement(graph, place_by_core(graph, 60, PlacementPolicy::kEarliestEnd)), best);
  }
  stream.print(name);
  window.print(name + "_window");
  odd.print(name + "_window_60");  // no whole rows
}

}  // namespace

int main(int count, char** arguments) {
  judge_small(count > 1 ? static_cast<unsigned>(std::strtoul(arguments[1], nullptr, 10)) : 200);
  std::vector<TaskGraph> random;
  for (unsigned seed = 0; seed < 20; ++seed) random.push_back(make_random(1000 + seed, 200, 4 + 4 * (seed % 3), 16));
  judge_large("random", random);
  for (Pattern pattern : {kStencil, kFft, kTree}) {
    std::vector<TaskGraph> graphs;
    for (double transfers : {0.1, 0.5, 1.0}) graphs.push_back(make_pattern(pattern, 16, 8, transfers));
    judge_large(kPatternNames[pattern], graphs);
  }
}
