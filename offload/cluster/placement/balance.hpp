// SPDX-License-Identifier: Apache-2.0
//
// Tasks are moved away from the node or link that has most to do, to nodes of their neighbours in the graph or to the
// least loaded one, as long as nobody gets as much thereby. So of iterations that overlap each takes less, even if
// one alone takes longer. Local search: at most 64 moves are looked at for each task, of O(neighbours of its
// producers). A pure state machine of node 0.
#pragma once

#include "cluster/placement/plan_run.hpp"

namespace marline::offload::cluster {

class Balance {
 public:
  // Of the tasks that `run` has been begun with: which of `nodes` (0: the host) they are to run at. `done`: what others
  // take.
  void improve(const Placement& placement, const List<BatchTask>& tasks, const PlanRun& run, const NodeWork& done,
               List<NodeNumber>& nodes);

 private:
  // With more neighbours in all a task stays: it would take long to look at, and decides little.
  static constexpr size_t kMostNeighbours = 256;
  struct Move {
    uint32_t task = 0;
    NodeNumber to = 0;
    double most = 0;  // that one of those concerned has to do behind it
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
  List<size_t> next_;        // by node: which of these was looked at last
  List<uint64_t> got_;       // by node: bytes of one task's output that go there; 0 outside of add_output
  List<NodeNumber> targets_;
  Tournament computing_;  // by node, for the least
  size_t left_ = 0;       // moves that may still be looked at
};

}  // namespace marline::offload::cluster
