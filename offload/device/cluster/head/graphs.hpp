// SPDX-License-Identifier: Apache-2.0
//
// In the program: iterations of persistent graphs (submission/replay/graph_iterations.cpp), as the core's Head replays
// them (cluster/replay/graphs.hpp). A node gets the kernels of its tasks along with its share of a plan, and from then
// on only words that have changed. Under the lock of node 0.
//
// The caller says that the next kernel stands behind the same kernels as in the iteration before; all else is compared
// here: the kernel, how it is started, what it may use. One that differs cuts the iteration. The kernels of a replay
// have ended when the iteration has, so their operations end together.
#pragma once

#include "cluster/dataflow/head.hpp"
#include "device/contract/device.hpp"
#include "device/cluster/head/memory.hpp"
#include "device/cluster/protocol/kernel_call.hpp"

namespace marline::offload::device {

using namespace cluster;

// How all nodes start a kernel.
struct KernelForm {
  const uint64_t* codes;  // where it is, by node; stays
  KernelCall call;        // without its code

  bool operator==(const KernelForm&) const = default;
  [[nodiscard]] KernelCall at(NodeNumber node) const {
    KernelCall there = call;
    there.code = codes[node];
    return there;
  }
};

// The region, and the text of its place, or null; both stay.
struct KernelNames {
  const char *name, *where;
};

// What a task uses, where its node has it.
void write_used(const ClusterBuffer& buffer, const ClusterRange& range, bool may_write, NodeNumber node,
                BlobWriter& blob);

class ClusterGraphs {
 public:
  explicit ClusterGraphs(Head& head) : head_(head) {}

  // `uses`: another number if kernels may use other data than before with the same maps. Whether the iteration can be
  // repeated as a whole.
  bool begin(GraphNumber graph, bool is_behind, uint64_t uses);
  void end(GraphNumber graph);
  void remove(GraphNumber graph);

  // The next kernel of an open iteration. True: it is replayed, and the task has that number. False: the task has to be
  // created.
  [[nodiscard]] bool repeat(GraphNumber graph, const KernelForm& form, const NewTask& task, Operation* operation,
                            TaskNumber& number);
  // All kernels of an iteration that has begun, with the arguments that they had in the one before. It may be done if
  // that one was repeated to its end by this plan, and kernels use the same data: then the nodes have all of it. False:
  // nothing has been done.
  [[nodiscard]] bool repeat_all(GraphNumber graph, uint64_t uses, Operation* operation, TaskNumber& number);
  // The same of an iteration whose kernels come by `renew_next`, with other words than before.
  [[nodiscard]] bool renew(GraphNumber graph, uint64_t uses, Operation* operation, TaskNumber& number);
  // `first`: of a kernel's words, the one that is its first argument. False: the iteration has been cut. `is_told`:
  // nodes are to be told of the kernels so far.
  [[nodiscard]] bool renew_next(GraphNumber graph, uint64_t uses, const ChangedWord* words, size_t count,
                                uint32_t first, bool& is_told);
  [[nodiscard]] uint64_t repeated_whole() const { return repeated_whole_; }
  // It has been created as a part of the iteration.
  void note_created(GraphNumber graph, const KernelForm& form, const KernelNames& names) {
    graph_of(graph).forms.push(form);
    graph_of(graph).names.push(names);
  }
  // Of a replayed task that has not ended.
  void find_kernel(TaskNumber replayed, KernelForm& form, KernelNames& names);
  // Another task does what a task of the replay was to do (late_pointers.cpp), and has ended. The replay, by
  // its first number, has ended when all of these have.
  void begin_again(TaskNumber first);
  void end_again(TaskNumber first);

  // Behind a kPlan: what its tasks use, and their kernels, where its node has them.
  void write_kernels(const Message& plan, ClusterMemory& memory, BlobWriter& blob);
  // A kUnplan has been sent.
  void note_unplan(uint64_t plan);
  // The operations of iterations that have ended.
  void take_ended(List<Operation*>& finished);

 private:
  struct Graph {
    uint64_t number = 0;
    List<KernelForm> forms;  // of the tasks created in this iteration
    List<KernelNames> names;
    uint64_t next = 0;                   // of a replay: the task
    uint64_t plan = 0;                   // that this iteration replays; 0: none
    uint64_t uses = 0, uses_before = 0;  // as in `begin`: of this iteration, and of the one before
    uint64_t replayed = 0;               // that the iteration before has replayed to its end; 0: none
    TaskNumber first = 0;                // then
    uint64_t uncounted = 0;              // of a renewed iteration: kernels that `replays_` does not know of yet
  };
  struct KeptForms {
    uint64_t number = 0;  // the plan's
    size_t nodes = 0;     // that have not been told that it goes; 0: it is there for replays under way
    List<KernelForm> forms;
    List<KernelNames> names;
  };
  struct Replay {
    TaskNumber first = 0;
    uint64_t plan = 0;
    uint64_t tasks = 0;           // so far
    List<Operation*> operations;  // of each, or of all
    uint64_t again = 0;           // tasks that others do, and have not done
    bool has_ended = false;       // but for those
  };

  Graph& graph_of(GraphNumber number);
  [[nodiscard]] bool may_repeat_all(const Graph& graph, uint64_t uses);
  void note_repeated(const Graph& graph, uint64_t tasks, Operation* operation);
  [[nodiscard]] KeptForms* plan_of(uint64_t number);
  void forget_plan(uint64_t number);
  [[nodiscard]] bool is_same(Graph& graph, const KernelForm& form, const NewTask& task);

  Head& head_;
  Numbered<Graph> graphs_;
  Numbered<KeptForms> plans_;
  uint64_t repeated_whole_ = 0;
  List<Replay> replays_;  // under way, oldest first: as few as the program has open iterations
};

}  // namespace marline::offload::device
