// SPDX-License-Identifier: Apache-2.0
//
// Nodes for many tasks at once, of which the placement knows all that stands between them. List scheduling: tasks in
// the order of their ranks, each where it ends first (HEFT, Topcuoglu et al. 2002), in a model in which nodes run tasks
// in this order, and each sends and receives one thing at a time. Three ranks are tried, the rule by which
// Placement chooses for a task alone, and the node that has what the task writes, and the plan that ends first is taken. So a
// task costs O(inputs + log nodes + log tasks) five times. A pure state machine of node 0; what it decides is advice: nothing has begun at a node.
#pragma once

#include "cluster/core/base/numbered.hpp"
#include "cluster/core/placement/placement.hpp"

namespace marline::target {

// What a task uses and an earlier one of the batch makes; no bytes: an order alone.
struct BatchInput {
  uint32_t producer;
  uint64_t bytes;
};

struct BatchHolder {
  NodeNumber node;
  uint64_t bytes;
};

struct BatchTask {
  PlacementRequest request;  // without the lists
  bool is_on_host = false;
  List<BatchInput> inputs;
  uint64_t outside = 0;       // bytes that it uses and somebody else makes or has made
  List<BatchHolder> holders;  // of those
  uint64_t written = 0;       // a number for the first range that it writes; 0: it writes nothing
  NodeNumber owner = 0;       // a node that has that when the batch is made; 0: it is new
  double ready = 0;           // until the last predecessor ends that is not of the batch
};

class Batch {
 public:
  // The next one; its producers have been added before. Valid until the next call.
  BatchTask& add() { return tasks_.push({}); }
  [[nodiscard]] size_t count() const { return tasks_.count(); }
  // Of all that have been added.
  void plan(const Placement& placement);
  // 0 for a task on the host, and where no member may run it.
  [[nodiscard]] NodeNumber node_of(size_t task) const { return best_.nodes[task]; }
  // In which order the plan has the tasks: a node that could start several of them starts the first one.
  [[nodiscard]] uint64_t position_of(size_t task) const { return best_.positions[task]; }
  void clear() { tasks_.clear(); }

  // The first tasks, so many, are to run as planned: what nodes and links have to do for them, other batches find.
  void keep(const Placement& placement, size_t tasks);
  // When such a task ends, on a clock that all plans share. One has ended: the clock is taken to have come there.
  [[nodiscard]] double end_of(size_t task) const { return plan_.ends[task] + now_; }
  void note_end(double end) { now_ = now_ > end ? now_ : end; }
  [[nodiscard]] double time_until(double end) const { return end > now_ ? end - now_ : 0; }

 private:
  static constexpr size_t kReaders = 4;
  // In which order, and by which rule.
  enum class Way : uint8_t { kByTransfersAndTimes, kByTimes, kByCreation, kByLoad, kByOwner };
  struct Plan {
    List<NodeNumber> nodes;
    List<double> ends;
    List<uint64_t> positions;
    double end = 0;
    uint64_t moved = 0;
  };
  struct Choice {
    NodeNumber node = 0;
    double end = 0;
    double cost = 0;   // by which nodes are compared
    double wait = 0;   // for a slot
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

  void set_order(const Placement& placement, Way way);
  void set_slots(const Placement& placement);
  void begin_plan(const Placement& placement);
  void run_at(const Placement& placement, uint32_t task, NodeNumber node);
  void try_way(const Placement& placement, Way way);
  void find_candidates(const Placement& placement, const BatchTask& task);
  [[nodiscard]] NodeNumber choose(const Placement& placement, uint32_t task, Way way);
  Choice at_node(const Placement& placement, uint32_t task, NodeNumber node, bool is_final);
  double take_inputs(const Placement& placement, uint32_t task, NodeNumber node, bool is_final, uint64_t& missing);
  Choice by_load(const Placement& placement, uint32_t task, NodeNumber node) const;
  static uint64_t missing_outside(const BatchTask& task, NodeNumber node);
  [[nodiscard]] double ahead_of(const Placement& placement, uint32_t task, NodeNumber node) const;
  double& first_slot(NodeNumber node);

  List<BatchTask> tasks_;
  List<uint32_t> order_;        // of tasks, and what each of them is sorted by:
  List<double> ranks_;
  List<double> slots_;          // until when each slot of each node has work
  List<size_t> first_slots_;    // by node: its first in slots_; one more at the end
  Tournament free_;             // the least of each node's slots
  List<NodeNumber> candidates_;
  NodeNumber last_ = 0;
  List<double> loads_;                 // by node, from 0 on: what it has been given
  List<double> sending_, receiving_;   // by node, from 0 on: until when
  List<List<Copy>> copies_;            // by task: nodes that its output has been sent to
  List<List<uint32_t>> readers_;       // by task, at most kReaders
  List<uint8_t> is_placed_;
  struct Owner {
    uint64_t number = 0;
    NodeNumber node = 0;
  };
  Numbered<Owner> owners_;       // of what tasks of the plan have written
  Plan plan_, best_;
  // What is kept, by the shared clock.
  double now_ = 0;
  List<double> kept_slots_, kept_sending_, kept_receiving_;
};

}  // namespace marline::target
