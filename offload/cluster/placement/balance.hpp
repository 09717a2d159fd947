// SPDX-License-Identifier: Apache-2.0
//
// Moves tasks away from the node or link with the most work, to nodes of their neighbours in the graph or to the least
// loaded node, as long as no node or link gets as much work by that. So each of several overlapping iterations takes
// less time, even if one alone takes longer. This is a local search: it examines at most 64 moves per task, which cost
// O(neighbours of its producers) each. A pure state machine of node 0.
#pragma once

#include "cluster/placement/plan_run.hpp"

namespace marline::offload::cluster {

class Balance {
 public:
  // Improves `nodes`, the nodes of the tasks that `run` was begun with (0: the host). `done`: the work of other tasks.
  void improve(const Placement& placement, const List<BatchTask>& tasks, const PlanRun& run, const NodeWork& done,
               List<NodeNumber>& nodes);

 private:
  // A task with more neighbours in total stays: it would take long to examine, and changes little.
  static constexpr size_t kMostNeighbours = 256;
  struct Move {
    uint32_t task = 0;
    NodeNumber to = 0;
    double most = 0;  // after the move, the most work of any node or link involved
  };

  void add_output(uint32_t task, double sign);
  void add_own(uint32_t task, double sign);
  void move(uint32_t task, NodeNumber to);
  [[nodiscard]] double most_beside(uint32_t task) const;
  [[nodiscard]] bool may_move(uint32_t task) const;
  void find_targets(uint32_t task);
  void look_at(uint32_t task, Move& best);
  [[nodiscard]] Move find_move(NodeNumber busiest);
  void look_around(uint32_t task, NodeNumber busiest, Move& best);
  [[nodiscard]] NodeNumber busiest() const;

  const Placement* placement_ = nullptr;
  const List<BatchTask>* tasks_ = nullptr;
  const PlanRun* run_ = nullptr;
  List<NodeNumber>* nodes_ = nullptr;
  NodeWork work_;
  List<List<uint32_t>> at_;  // by node: its tasks
  List<size_t> next_;        // by node: the task that was examined last
  List<uint64_t> got_;       // by node: bytes of one task's output that go there; all 0 outside of add_output
  List<NodeNumber> targets_;
  Tournament computing_;  // by node, to find the least
  size_t left_ = 0;       // how many moves may still be examined
};

}  // namespace marline::offload::cluster
