// SPDX-License-Identifier: Apache-2.0
//
// What node 0 keeps of an iteration of a persistent graph: which task runs where, what it uses, and what its node does.
// A plan is written task by task while an iteration is planned as usual. It contains nothing that holds only in that
// iteration: tasks are named by iteration (Era), node and rank (share.hpp).
#pragma once

#include "cluster/base/new_task.hpp"
#include "cluster/base/shared.hpp"
#include "cluster/coherence/directory.hpp"
#include "cluster/replay/share.hpp"

namespace marline::offload::cluster {

// Replayed tasks have numbers of their own, higher than all other task numbers.
inline constexpr TaskNumber kReplayed = TaskNumber{1} << 63;
inline bool is_replayed(TaskNumber task) { return (task & kReplayed) != 0; }

struct CopyUse {
  uint64_t buffer;
  NodeNumber node;
};

struct PlanTask {
  NodeNumber node = 0;
  uint64_t rank = 0;  // the task's number among its node's tasks of the iteration
  size_t member = 0;  // the node's index in Plan::members
  uint32_t kernel = 0, kinds = 0;
  List<TaskAccess> accesses;
  // All predecessors that count in a later iteration, even if they have ended in this one.
  List<PlanPlace> predecessors;
  // What the task's node does for it. `step.words` are the driver's words that the node has, or will have with the next
  // batch.
  PlanStep step;
};

struct Plan {
  // The tasks of one node, by rank. Lists that are indexed by node end at the last node with a task.
  struct Part {
    uint64_t first = 0;      // index of rank 0 in the iteration that was written down
    size_t member = 0;       // the node's index in `members`
    List<uint64_t> tasks;    // by rank: the index in Plan::tasks
    List<NodeNumber> peers;  // the nodes that the node's steps name (Share::write_step)
    double load = 0;
    double planned = 0;  // as `load`, without the time that tasks wait for other tasks
    double ran = 0;      // how long the tasks ran in the replays that Plan::ran counts
  };

  uint64_t number = 0;
  bool has_barrier = false;  // the graph has a barrier: an iteration begins when all tasks of the one before have ended
  // False: tasks of the iteration before that had ended are missing among the predecessors, so the plan must not be
  // compared with others.
  bool knows_before = false;
  bool is_fit = true;  // may be kept, because nothing else happened meanwhile
  List<PlanTask> tasks;
  List<Part> parts;
  List<NodeNumber> members;  // nodes with tasks
  struct Used {
    uint64_t number = 0;
  };
  List<uint64_t> buffers;  // buffers that tasks use, in the order of first use
  IdTable<Used> is_used;   // the same buffers, for look-up
  List<CopyUse> uses;      // without duplicates once the plan is kept
  uint64_t ran = 0;        // completed replays since the load of the nodes was judged last
  List<uint64_t> start;    // the directory's state when the iteration began (Graphs::describe); empty: unknown

  // Whether the plan has as many tasks as `other`, each at the same node.
  [[nodiscard]] bool has_shape_of(const Plan& other) const;
  // Whether the plan has the same shape as `other`, and its tasks do the same as those of `other`.
  [[nodiscard]] bool has_tasks_of(const Plan& other) const;
  // Whether the task with this number in the iteration has the kernel, node and accesses of `made`. The caller must
  // compare its predecessors.
  [[nodiscard]] bool has_task(uint64_t at, const NewTask& made) const;
  [[nodiscard]] bool uses_buffer(uint64_t buffer) { return is_used.find(buffer) != nullptr; }
  void add_buffer(uint64_t buffer);
  // Records the node and index of the next task, and sets the task's node, rank and member. False: the node has got
  // tasks outside of the plan between its tasks of the plan, so ranks do not give indices.
  [[nodiscard]] bool add_place(const TaskPlace& place, PlanTask& task);
  // Removes duplicates from `uses`.
  void close_uses();
  // Writes the kPlan message that gives a node its share of the plan.
  void write_share(NodeNumber node, Message& message);
};

// Where the tasks of one iteration are. Planned tasks have numbers that need not be consecutive; the numbers of a
// replay are.
struct Iteration {
  Shared<Plan> plan;         // the plan of these tasks; empty: the iteration is unknown
  List<uint64_t> firsts;     // by node: the index of its task with rank 0
  List<TaskNumber> numbers;  // by task, ascending; empty for a replay
  TaskNumber first_number = 0;
  uint64_t count = 0;  // how many of the plan's tasks, from the first on, belong to the iteration

  [[nodiscard]] bool is_replay() const { return is_replayed(first_number); }
  // `at` gets the task's number in the iteration.
  [[nodiscard]] bool find(TaskNumber number, uint64_t& at) const;
  [[nodiscard]] bool find(const TaskPlace& place, uint64_t& at) const;
  [[nodiscard]] TaskNumber number_of(uint64_t at) const { return numbers.is_empty() ? first_number + at : numbers[at]; }
  [[nodiscard]] TaskPlace place_of(uint64_t at) const;
  [[nodiscard]] uint64_t first_of(NodeNumber node) const { return node < firsts.count() ? firsts[node] : 0; }
};

// Converts the node and index of a task to the form of a plan: with the rank if the task belongs to one of these
// iterations, else with the index.
PlanPlace name_place(const TaskPlace& place, const Iteration& now, const Iteration& before);

}  // namespace marline::offload::cluster
