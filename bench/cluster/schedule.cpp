// SPDX-License-Identifier: Apache-2.0
//
// Schedules task graphs on equal nodes by exhaustive search, by offline heuristics, and by given placements.
#include "schedule.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace cluster {

namespace {

// A schedule under construction: tasks are appended to nodes.
class Plan {
 public:
  explicit Plan(const TaskGraph& graph)
      : graph_(graph), node_(graph.tasks.size()), end_(graph.tasks.size(), -1), free_(graph.nodes, 0) {}

  bool is_placed(size_t task) const { return end_[task] >= 0; }
  bool can_be_placed(size_t task) const {
    const auto& inputs = graph_.tasks[task].inputs;
    return !is_placed(task) && std::all_of(inputs.begin(), inputs.end(), [&](size_t i) { return is_placed(i); });
  }

  double ready_at(size_t task, size_t node) const {
    double ready = 0;
    for (size_t input : graph_.tasks[task].inputs) {
      double move = graph_.latency + static_cast<double>(graph_.tasks[input].bytes) * graph_.time_per_byte;
      ready = std::max(ready, end_[input] + (node_[input] == node ? 0 : move));
    }
    return ready;
  }

  double start_at(size_t task, size_t node) const { return std::max(free_[node], ready_at(task, node)); }

  size_t best_node(size_t task) const {
    size_t best = 0;
    for (size_t node = 1; node < graph_.nodes; ++node) {
      if (start_at(task, node) < start_at(task, best)) best = node;
    }
    return best;
  }

  double end_on_best(size_t task) const { return start_at(task, best_node(task)) + graph_.tasks[task].time; }

  void place(size_t task, size_t node) {
    end_[task] = free_[node] = start_at(task, node) + graph_.tasks[task].time;
    node_[task] = node;
  }

  Schedule finish() const {
    Schedule schedule;
    schedule.node = node_;
    schedule.makespan = *std::max_element(end_.begin(), end_.end());
    std::vector<bool> has(graph_.tasks.size() * graph_.nodes);
    for (size_t task = 0; task < graph_.tasks.size(); ++task) {
      for (size_t input : graph_.tasks[task].inputs) {
        auto copy = has[input * graph_.nodes + node_[task]];
        if (node_[input] != node_[task] && !copy) schedule.bytes += graph_.tasks[input].bytes;
        copy = true;
      }
    }
    return schedule;
  }

 private:
  const TaskGraph& graph_;
  std::vector<size_t> node_;
  std::vector<double> end_, free_;
};

std::vector<double> upward_ranks(const TaskGraph& graph, double share_of_transfers) {
  std::vector<double> rank(graph.tasks.size(), 0);
  for (size_t task = graph.tasks.size(); task-- > 0;) {
    rank[task] += graph.tasks[task].time;
    for (size_t input : graph.tasks[task].inputs) {
      double move = graph.latency + static_cast<double>(graph.tasks[input].bytes) * graph.time_per_byte;
      rank[input] = std::max(rank[input], rank[task] + share_of_transfers * move);
    }
  }
  return rank;
}

Schedule by_rank(const TaskGraph& graph, const std::vector<double>& rank) {
  std::vector<size_t> order(graph.tasks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return std::pair(rank[b], a) < std::pair(rank[a], b); });
  Plan plan(graph);
  for (size_t task : order) plan.place(task, plan.best_node(task));
  return plan.finish();
}

// Of the tasks that can be placed, always the one that would end first, or last.
Schedule by_end(const TaskGraph& graph, bool is_last) {
  Plan plan(graph);
  for (size_t placed = 0; placed < graph.tasks.size(); ++placed) {
    size_t chosen = graph.tasks.size();
    double chosen_end = 0;
    for (size_t task = 0; task < graph.tasks.size(); ++task) {
      if (!plan.can_be_placed(task)) continue;
      double end = plan.end_on_best(task);
      bool is_better = is_last ? end > chosen_end : end < chosen_end;
      if (chosen == graph.tasks.size() || is_better) chosen = task, chosen_end = end;
    }
    plan.place(chosen, plan.best_node(chosen));
  }
  return plan.finish();
}

}  // namespace

Schedule run_placement(const TaskGraph& graph, const std::vector<size_t>& node, const std::vector<uint64_t>& order) {
  Plan plan(graph);
  auto rank = [&](size_t task) {
    return std::tuple(plan.start_at(task, node[task]), order[task], plan.ready_at(task, node[task]));
  };
  for (size_t placed = 0; placed < graph.tasks.size(); ++placed) {
    size_t chosen = graph.tasks.size();
    for (size_t task = 0; task < graph.tasks.size(); ++task) {
      if (!plan.can_be_placed(task)) continue;
      if (chosen == graph.tasks.size() || rank(task) < rank(chosen)) chosen = task;
    }
    plan.place(chosen, node[chosen]);
  }
  return plan.finish();
}

Schedule find_best(const TaskGraph& graph) {
  std::vector<size_t> node(graph.tasks.size(), 0);
  const std::vector<uint64_t> order(graph.tasks.size(), 0);
  Schedule best = run_placement(graph, node, order);
  for (size_t digit = 0; digit < node.size();) {
    digit = 0;
    while (digit < node.size() && ++node[digit] == graph.nodes) node[digit++] = 0;
    if (digit == node.size()) break;
    Schedule one = run_placement(graph, node, order);
    bool is_better =
        one.makespan < best.makespan - 1e-9 || (one.makespan < best.makespan + 1e-9 && one.bytes < best.bytes);
    if (is_better) best = one;
  }
  return best;
}

std::vector<Heuristic> offline_heuristics() {
  return {
      {"heft", [](const TaskGraph& graph) { return by_rank(graph, upward_ranks(graph, 1)); }},
      {"levels", [](const TaskGraph& graph) { return by_rank(graph, upward_ranks(graph, 0)); }},
      {"min_min", [](const TaskGraph& graph) { return by_end(graph, false); }},
      {"max_min", [](const TaskGraph& graph) { return by_end(graph, true); }},
      {"creation", [](const TaskGraph& graph) { return by_rank(graph, std::vector<double>(graph.tasks.size(), 0)); }},
  };
}

}  // namespace cluster
