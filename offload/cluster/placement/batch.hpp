// SPDX-License-Identifier: Apache-2.0
//
// Chooses nodes for many tasks at once, when the placement knows all dependences among them. It is list scheduling:
// tasks in the order of their ranks, each at the node where it ends first (HEFT, Topcuoglu et al. 2002). In the model,
// nodes run tasks in this order, and each node sends one item and receives one item at a time. Five plans are made:
// with three ranks, by the node that has what the task writes, and by blocks of tasks that could run at the same time.
// The last two use Placement's rule for a task alone where they give no node. All are simulated (plan_run.hpp), and the
// one that ends first is taken. So a task costs O(inputs + log nodes + log tasks) a few times.
//
// For an iteration of a persistent graph that further iterations follow there is a sixth plan, by what tasks read in
// common (sharing.hpp), with the same rule. The plan with the shortest time for sixteen iterations is taken. Then tasks
// are moved away from the nodes and links with the most work (balance.hpp). A pure state machine of node 0. Its
// decisions are advice: nothing begins at a node.
#pragma once

#include "base/id_table.hpp"
#include "cluster/placement/balance.hpp"
#include "cluster/placement/sharing.hpp"

namespace marline::offload::cluster {

class Batch {
 public:
  // Adds the next task; its producers must have been added before. The reference is valid until the next call.
  BatchTask& add() { return tasks_.push({}); }
  [[nodiscard]] size_t count() const { return tasks_.count(); }
  // The next batches are parts of an iteration that similar iterations follow.
  void begin_iteration(const Placement& placement) {
    done_.clear(placement.members() + 1);
    kept_ = Occupied();  // the next iteration has other conditions
  }
  // Counts a task of the iteration that belongs to no batch.
  void add_alone(const Placement& placement, const PlacementRequest& request, NodeNumber node) {
    done_.computing[node] += placement.expected_time_at(request, node) / placement.slots(node);
  }
  // Plans all tasks that have been added. `repeats`: they are a part of an iteration that others follow, or begin with
  // one.
  void plan(const Placement& placement, bool repeats);
  // 0 for a task on the host, and if no member may run the task.
  [[nodiscard]] NodeNumber node_of(size_t task) const { return best_.nodes[task]; }
  // The order of the tasks in the plan: a node that could start several of them starts the first one.
  [[nodiscard]] uint64_t position_of(size_t task) const { return best_.positions[task]; }
  void clear() { tasks_.clear(); }

  // The first `tasks` tasks will run as planned. Later batches take into account the work of nodes and links for them.
  void keep(size_t tasks);
  // When a kept task ends, on a clock that all plans share. note_end: a kept task has ended, so the clock is at `end`
  // or later.
  [[nodiscard]] double end_of(size_t task) const { return run_.end_of(task) + now_; }
  void note_end(double end) { now_ = now_ > end ? now_ : end; }
  [[nodiscard]] double time_until(double end) const { return end > now_ ? end - now_ : 0; }

 private:
  static constexpr size_t kReaders = 4, kMostInputs = 64;
  // The order and the rule of a plan. From kByOwner on, the order is that of creation, and a rule gives the node in
  // advance.
  enum class Way : uint8_t { kByTransfersAndTimes, kByTimes, kByCreation, kByOwner, kByBlocks, kBySharing };
  struct Plan {
    List<NodeNumber> nodes;
    List<double> ends;  // as far as the list schedule knows
    List<uint64_t> positions;
    // The end of the last task; for an iteration that others follow, a sixteenth of the end of sixteen such iterations.
    double end = 0;
    uint64_t moved = 0;
    [[nodiscard]] bool is_like(const Plan& other) const;
  };
  struct Choice {
    NodeNumber node = 0;
    double end = 0;
    double cost = 0;  // the value by which nodes are compared
    double wait = 0;  // how long it waits for a slot
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
  [[nodiscard]] double reader_time(const Placement& placement, uint32_t task, NodeNumber node) const;

  List<BatchTask> tasks_;
  List<uint32_t> order_before_;  // the order of the plan before
  List<uint32_t> order_;         // the order of the tasks, and what each of them is sorted by:
  List<double> ranks_;
  Occupied at_first_, occupied_;  // before the plan, and with the tasks planned so far
  Tournament free_;               // by node: when its first slot is free
  List<NodeNumber> candidates_;
  NodeNumber last_ = 0;
  List<double> loads_;       // by node, from 0 on: its load so far
  List<List<Copy>> copies_;  // by task: nodes that its output has been sent to
  List<uint8_t> is_placed_;
  struct Owner {
    uint64_t number = 0;
    NodeNumber node = 0;
  };
  IdTable<Owner> owners_;  // of the ranges that tasks of the plan have written
  Plan plan_, best_;
  PlanRun run_;
  bool repeats_ = false;
  Balance balance_;
  Sharing sharing_;
  List<NodeNumber> shared_;  // the advice of sharing_
  NodeWork done_;            // the work of tasks of the same iteration that will run as planned
  // The kept work, by the shared clock.
  double now_ = 0;
  Occupied kept_;
};

}  // namespace marline::offload::cluster
