// SPDX-License-Identifier: Apache-2.0
//
// What node 0 keeps of an iteration of a persistent graph: which task runs where, what it uses, and what its node does.
// A plan is written down task by task while an iteration is planned as usual. It says nothing that holds in that
// iteration alone: tasks are named by era, node and rank (share.hpp).
#pragma once

#include "cluster/base/shared.hpp"
#include "cluster/coherence/directory.hpp"
#include "cluster/replay/share.hpp"

namespace marline::offload::cluster {

// Persistent graphs have numbers from 1 on, the driver's; 0: none.
using GraphNumber = uint64_t;

// Replayed tasks have numbers of their own, above all others.
inline constexpr TaskNumber kReplayed = TaskNumber{1} << 63;
inline bool is_replayed(TaskNumber task) { return (task & kReplayed) != 0; }

struct CopyUse {
  uint64_t buffer;
  NodeNumber node;
};

struct PlanTask {
  NodeNumber node = 0;
  uint64_t rank = 0;
  size_t member = 0;  // the node's place in Plan::members
  uint32_t kernel = 0, kinds = 0;
  List<TaskAccess> accesses;
  List<PlanPlace> predecessors;  // all that count in a later iteration, also those that have ended in this one
  PlanStep step;                 // its words are those that the node has, or will have with the next batch
};

struct Plan {
  // The tasks of one node, by rank. Lists by node are as long as the number of the last node with a task needs.
  struct Part {
    uint64_t first = 0;  // index of rank 0 in the iteration that was written down
    size_t member = 0;   // the node's place in `members`
    List<uint64_t> tasks;
    List<NodeNumber> peers;
    double load = 0;
    double planned = 0;  // as `load`, without what they wait for others
    double ran = 0;      // for so long, in the replays that `ran` counts
  };

  uint64_t number = 0;
  bool is_behind = false;  // each iteration begins when all tasks of the one before have ended
  // Else tasks of the one before that had ended are missing among the predecessors: it is not to be compared with
  // others.
  bool knows_before = false;
  bool is_fit = true;  // may be kept: nothing else happened meanwhile
  List<PlanTask> tasks;
  List<Part> parts;
  List<NodeNumber> members;  // nodes with tasks
  struct Used {
    uint64_t number = 0;
  };
  List<uint64_t> buffers;  // that tasks use, in the order of first use
  Numbered<Used> is_used;  // the same
  List<CopyUse> uses;      // each once, when the plan is kept
  uint64_t ran = 0;        // whole replays that have ended since somebody looked at what their nodes had to do
  List<uint64_t> start;    // the directory's state when the iteration began; empty: unknown

  // As many tasks, each at the same node.
  [[nodiscard]] bool has_shape_of(const Plan& other) const;
  // And each doing the same.
  [[nodiscard]] bool has_tasks_of(const Plan& other) const;
  // The task in that place is such a one; its predecessors are the caller's to compare.
  [[nodiscard]] bool has_task(uint64_t at, uint32_t kernel, NodeNumber pin, const List<TaskAccess>& accesses) const;
  [[nodiscard]] bool uses_buffer(uint64_t buffer) { return is_used.find(buffer) != nullptr; }
  void add_buffer(uint64_t buffer);
  // Where the next task is. False: other tasks are between this node's.
  [[nodiscard]] bool add_place(const TaskPlace& place, PlanTask& task);
  // Removes what is there more than once.
  void close_uses();
  // The message that gives a node its share.
  void write_share(NodeNumber node, Message& message);
};

// Where the tasks of one iteration are. Planned ones have numbers of their own, those of a replay follow one another.
struct Iteration {
  Shared<Plan> plan;         // whose tasks these are; none: the iteration is unknown
  List<uint64_t> firsts;     // index of rank 0, by node
  List<TaskNumber> numbers;  // by task, ascending; of a replay: none
  TaskNumber first_number = 0;
  uint64_t count = 0;  // tasks from 0 on that are the plan's

  [[nodiscard]] bool is_replay() const { return is_replayed(first_number); }
  // `at`: the number in the iteration.
  [[nodiscard]] bool find(TaskNumber number, uint64_t& at) const;
  [[nodiscard]] bool find(const TaskPlace& place, uint64_t& at) const;
  [[nodiscard]] TaskNumber number_of(uint64_t at) const { return numbers.is_empty() ? first_number + at : numbers[at]; }
  [[nodiscard]] TaskPlace place_of(uint64_t at) const;
  [[nodiscard]] uint64_t first_of(NodeNumber node) const { return node < firsts.count() ? firsts[node] : 0; }
};

// Names a place in a plan: by rank, if it is in one of these iterations.
PlanPlace name_place(const TaskPlace& place, const Iteration& now, const Iteration& before);

}  // namespace marline::offload::cluster
