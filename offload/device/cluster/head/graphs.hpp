// SPDX-License-Identifier: Apache-2.0
//
// In the program: repeats iterations of persistent graphs (submission/replay/graph_iterations.cpp) as replays of the
// core's Head (cluster/replay/graphs.hpp). A node gets the kernels of its tasks once, with its share of a plan. For
// each replay it then gets only the words that have changed. Under the lock of node 0.
//
// The caller guarantees that the next kernel has the same predecessors as in the iteration before. Everything else is
// compared here: the kernel, how it is started, and the data that it may use. A kernel that differs cuts the iteration:
// this kernel and the rest of the iteration are created as usual. The kernels of a replay count as ended only when the
// whole replay has ended, so their operations end together.
#pragma once

#include "cluster/dataflow/head.hpp"
#include "device/contract/device.hpp"
#include "device/cluster/head/memory.hpp"
#include "device/cluster/protocol/kernel_call.hpp"

namespace marline::offload::device {

using namespace cluster;

// How the nodes start a kernel, and its name for warnings and errors.
struct KernelForm {
  const uint64_t* codes = nullptr;  // addresses of the code, by node; permanent
  KernelCall call;                  // without `code`, which is different on each node
  // The region's name, and the text that says where it is in the source, or null. Both are permanent.
  const char *name = nullptr, *where = nullptr;

  [[nodiscard]] bool starts_as(const KernelForm& other) const { return codes == other.codes && call == other.call; }
  // Writes the call of the kernel with the code's address on this node.
  void write(NodeNumber node, BlobWriter& blob) const {
    KernelCall there = call;
    there.code = codes[node];
    pass_call(blob, there);
  }
};

// Appends a range that a task uses, with the address that its buffer has at the node.
void write_used(const ClusterBuffer& buffer, const ClusterRange& range, bool may_write, NodeNumber node,
                BlobWriter& blob);

class ClusterGraphs {
 public:
  explicit ClusterGraphs(Head& head) : head_(head) {}

  // Begins an iteration. `has_barrier`: all kernels launched before it have ended. `uses`: a number that must change
  // whenever kernels with the same maps may use other data than before (ClusterHead::uses). Returns whether the
  // iteration can be repeated as a whole.
  bool begin(GraphNumber graph, bool has_barrier, uint64_t uses);
  void end(GraphNumber graph);
  // The graph has no further iteration.
  void remove(GraphNumber graph);

  // The next kernel of an open iteration. Returns true if it is replayed; `number` is then its task. Returns false if
  // the caller must create the task.
  [[nodiscard]] bool repeat(GraphNumber graph, const KernelForm& form, const NewTask& task, Operation* operation,
                            TaskNumber& number);
  // Replays all kernels of an iteration that has begun, with the arguments of the iteration before. This is possible if
  // the same plan has replayed that iteration to its end and the kernels use the same data: then the nodes have
  // everything that they need. Returns false if nothing was done.
  [[nodiscard]] bool repeat_all(GraphNumber graph, uint64_t uses, Operation* operation, TaskNumber& number);
  // As repeat_all, but the kernels' arguments may differ: `renew_next` must be called for each kernel.
  [[nodiscard]] bool renew(GraphNumber graph, uint64_t uses, Operation* operation, TaskNumber& number);
  // Replays the next kernel with these changed words. `first`: the index of the kernel's first argument among its
  // words. Returns false if the iteration has been cut. Sets `is_reported` if the caller must send the messages of the
  // core, which contain the kernels replayed so far.
  [[nodiscard]] bool renew_next(GraphNumber graph, uint64_t uses, const ChangedWord* words, size_t count,
                                uint32_t first, bool& is_reported);
  // How many iterations have been repeated as a whole.
  [[nodiscard]] uint64_t repeated_whole() const { return repeated_whole_; }
  // Notes a task that has been created as a part of the iteration.
  void note_created(GraphNumber graph, const KernelForm& form) { graph_of(graph).forms.push(form); }
  // The kernel of a replayed task that has not ended.
  [[nodiscard]] const KernelForm& kernel_of(TaskNumber replayed);
  // `begin_again`: another task replaces a task of the replay (late_pointers.cpp). `end_again`: such a replacement has
  // ended. A replay, which is named by its first task, ends when its tasks and all replacements of them have ended.
  void begin_again(TaskNumber first);
  void end_again(TaskNumber first);

  // Appends to a kPlan message the kernels of its tasks and the ranges that they use, at the addresses of its node.
  void write_kernels(const Message& plan, ClusterMemory& memory, BlobWriter& blob);
  // Notes that a kUnplan has been sent.
  void note_unplan(uint64_t plan);
  // Adds the operations of replays that have ended.
  void take_ended(List<Operation*>& finished);

 private:
  struct Graph {
    uint64_t number = 0;
    List<KernelForm> forms;  // of the tasks created in this iteration
    // Of a replay: the next task.
    uint64_t next = 0;
    // The plan that this iteration replays; 0: none.
    uint64_t plan = 0;
    // As in `begin`: of this iteration and of the iteration before.
    uint64_t uses = 0, uses_before = 0;
    // The plan that has replayed the iteration before to its end; 0: none.
    uint64_t replayed = 0;
    // The first task of the replay, if `plan` is not 0.
    TaskNumber first = 0;
    // Of an iteration replayed with new arguments: kernels that `replays_` does not count yet.
    uint64_t uncounted = 0;
  };
  struct KeptForms {
    uint64_t number = 0;  // the plan's number
    // Nodes that have not been sent the kUnplan. 0: the entry is kept for replays that have not ended.
    size_t nodes = 0;
    List<KernelForm> forms;
  };
  struct Replay {
    TaskNumber first = 0;
    uint64_t plan = 0;
    uint64_t tasks = 0;           // number of tasks so far
    List<Operation*> operations;  // one for each task, or one for all
    uint64_t open = 0;            // how many replacements of its tasks have not ended
    bool has_ended = false;       // all tasks except the replacements have ended
  };

  Graph& graph_of(GraphNumber number);
  [[nodiscard]] bool may_repeat_all(const Graph& graph, uint64_t uses);
  void note_repeated(const Graph& graph, uint64_t tasks, Operation* operation);
  [[nodiscard]] KeptForms* plan_of(uint64_t number);
  void forget_plan(uint64_t number);
  [[nodiscard]] bool is_same(Graph& graph, const KernelForm& form, const NewTask& task);

  Head& head_;
  IdTable<Graph> graphs_;
  IdTable<KeptForms> plans_;
  uint64_t repeated_whole_ = 0;
  // Replays that have not ended, oldest first. At most one for each iteration in progress, so there are few.
  List<Replay> replays_;
};

}  // namespace marline::offload::device
