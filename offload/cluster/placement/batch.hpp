// SPDX-License-Identifier: Apache-2.0
//
// Nodes for many tasks at once, of which the placement knows all that stands between them. List scheduling: tasks in
// the order of their ranks, each where it ends first (HEFT, Topcuoglu et al. 2002), in a model in which nodes run tasks
// in this order, and each sends and receives one thing at a time. Five plans are made: by three ranks, by the node that
// has what the task writes, and by blocks of tasks that could run at the same time; these two take Placement's rule
// for a task alone where they have no node. The one that ends first when it is run (plan_run.hpp) is taken. So a task
// costs O(inputs + log nodes + log tasks) some times. Of an iteration of a persistent graph, which others will follow,
// there is a sixth plan, by what tasks read in common (sharing.hpp), with the same rule; that one is taken of which
// sixteen take least time, and tasks are moved from nodes and links that have most to do (balance.hpp). A pure state
// machine of node 0; what it decides is advice: nothing has begun at a node.
#pragma once

#include "cluster/base/numbered.hpp"
#include "cluster/placement/balance.hpp"
#include "cluster/placement/sharing.hpp"

namespace marline::offload::cluster {

class Batch {
 public:
  // The next one; its producers have been added before. Valid until the next call.
  BatchTask& add() { return tasks_.push({}); }
  [[nodiscard]] size_t count() const { return tasks_.count(); }
  // The next batches are parts of an iteration that others follow.
  void begin_iteration(const Placement& placement) {
    done_.clear(placement.members() + 1);
    kept_ = Occupied();  // the next one finds something else
  }
  // A task of it is in none of them.
  void add_alone(const Placement& placement, const PlacementRequest& request, NodeNumber node) {
    done_.computing[node] += placement.expected_time_at(request, node) / placement.slots(node);
  }
  // Of all that have been added. `repeats`: they are such a part, or begin with it.
  void plan(const Placement& placement, bool repeats);
  // 0 for a task on the host, and where no member may run it.
  [[nodiscard]] NodeNumber node_of(size_t task) const { return best_.nodes[task]; }
  // In which order the plan has the tasks: a node that could start several of them starts the first one.
  [[nodiscard]] uint64_t position_of(size_t task) const { return best_.positions[task]; }
  void clear() { tasks_.clear(); }

  // The first tasks, so many, are to run as planned: what nodes and links have to do for them, other batches find.
  void keep(size_t tasks);
  // When such a task ends, on a clock that all plans share. One has ended: the clock is taken to have come there.
  [[nodiscard]] double end_of(size_t task) const { return run_.end_of(task) + now_; }
  void note_end(double end) { now_ = now_ > end ? now_ : end; }
  [[nodiscard]] double time_until(double end) const { return end > now_ ? end - now_ : 0; }

 private:
  static constexpr size_t kReaders = 4, kMostInputs = 64;
  // In which order, and by which rule. From kByOwner on in that of creation, each at a node that is known before.
  enum class Way : uint8_t { kByTransfersAndTimes, kByTimes, kByCreation, kByOwner, kByBlocks, kBySharing };
  struct Plan {
    List<NodeNumber> nodes;
    List<double> ends;  // as far as the list schedule knows
    List<uint64_t> positions;
    double end = 0;  // of the last task; of an iteration that others follow, a sixteenth of when sixteen end
    uint64_t moved = 0;
    [[nodiscard]] bool is_like(const Plan& other) const;
  };
  struct Choice {
    NodeNumber node = 0;
    double end = 0;
    double cost = 0;  // by which nodes are compared
    double wait = 0;  // for a slot
    uint64_t missing = 0;
    [[nodiscard]] bool is_better(const Choice& other) const {
      if (cost != other.cost) return cost < other.cost;
      return missing != other.missing ? missing < other.missing : wait < other.wait;
    }
    [[nodiscard]] bool is_as_good(const Choice& other) const {
      return cost == other.cost && missing == other.missing && wait == other.wait;
    }
  };
  struct Copy {
    NodeNumber node;
    double since;
  };

  double end_of_run(double limit);
  void take_if_better();
  void balance(const Placement& placement);
  bool set_order(const Placement& placement, Way way);
  [[nodiscard]] bool is_order_before() const;
  void set_occupied(const Placement& placement);
  void begin_plan(const Placement& placement);
  void run_at(const Placement& placement, uint32_t task, NodeNumber node);
  void try_way(const Placement& placement, Way way);
  void find_candidates(const Placement& placement, const BatchTask& task);
  [[nodiscard]] NodeNumber choose(const Placement& placement, uint32_t task, Way way);
  Choice at_node(const Placement& placement, uint32_t task, NodeNumber node, bool is_final);
  double take_inputs(const Placement& placement, uint32_t task, NodeNumber node, bool is_final, uint64_t& missing);
  [[nodiscard]] NodeNumber block_of(const BatchTask& task) const;
  Choice by_load(const Placement& placement, uint32_t task, NodeNumber node) const;
  [[nodiscard]] double ahead_of(const Placement& placement, uint32_t task, NodeNumber node) const;

  List<BatchTask> tasks_;
  List<uint32_t> order_before_;  // of the way before
  List<uint32_t> order_;         // of tasks, and what each of them is sorted by:
  List<double> ranks_;
  Occupied at_first_, occupied_;  // before the plan, and as far as it is made
  Tournament free_;               // the least of each node's slots
  List<NodeNumber> candidates_;
  NodeNumber last_ = 0;
  List<double> loads_;       // by node, from 0 on: what it has been given
  List<List<Copy>> copies_;  // by task: nodes that its output has been sent to
  List<uint8_t> is_placed_;
  struct Owner {
    uint64_t number = 0;
    NodeNumber node = 0;
  };
  Numbered<Owner> owners_;  // of what tasks of the plan have written
  Plan plan_, best_;
  PlanRun run_;
  bool repeats_ = false;
  Balance balance_;
  Sharing sharing_;
  List<NodeNumber> shared_;  // its advice
  NodeWork done_;            // by tasks of the same iteration that are to run as planned
  // What is kept, by the shared clock.
  double now_ = 0;
  Occupied kept_;
};

}  // namespace marline::offload::cluster
