// SPDX-License-Identifier: Apache-2.0
//
// The record of a persistent task graph (docs/design/persistent-graphs.md): one or two iterations of a producer (tasks,
// waits, gather nodes, edges), built into nodes with static successors, so that later iterations make no edges and do
// not use a dependence table.
//
// Which thread may access what: only the producer uses the record, builds it and ends it. In a node, any thread that
// completes a predecessor lowers `waiting`. The thread that brings it to zero stores `required` again (re-arms the
// node) and then makes the node's task ready. The other fields of a node are written while no task of the instance is
// unfinished, or by the producer while it holds the node's guard.
//
// Invariant: a node is re-armed before any decrement of its next round. Proof: the design page; model:
// tests/model/rearm.pml.
#pragma once

#include "base/array.hpp"
#include "graph/dependence.hpp"
#include "graph/exclusion.hpp"

namespace marline {

enum class NodeKind : uint8_t {
  kTask,
  kEmpty,  // a gather node, or the node of a task that the producer no longer creates
  kWait,   // a taskwait with dependences
  // Only steps of the replay mode; not nodes of the graph.
  kTaskwait,
  kGroupBegin,
  kGroupEnd,
};

struct alignas(kCacheLine) GraphNode {
  static constexpr uint64_t kEnded = ~uint64_t{0};
  Task* task;               // with kTask
  Atomic<int32_t> waiting;  // predecessors that have not completed, plus the producer's guard
  int32_t required;         // the value with which `waiting` starts each round
  GraphNode** successors;
  uint32_t successor_count;
  NodeKind kind;
  // The priority that the node's successors have passed on to it; only where priorities propagate.
  int32_t priority;
  // Index in GraphRecord::predecessors; the node has `required` - 1 predecessors there.
  uint32_t first_predecessor;
  // With kWait: the event to fulfil.
  Event* event;
  // Link in the list of reached nodes without a task.
  GraphNode* next;
  // The producer's. With kTask: the number of the task's last round, by which the observer of target tasks knows a task
  // that it has claimed; 0: the observer has not claimed it; kEnded: there has been no round yet.
  uint64_t number;
};

// One construct that the producer has encountered; steps are in program order.
struct GraphStep {
  Task* task;                 // with kTask
  uint32_t first_dependence;  // in GraphRecord::dependences
  uint32_t dependence_count;
  uint32_t allocation;  // with kTask: index in the stream of allocations
  NodeKind kind;
  bool dropped;
};

// A node as recorded. Its index is the order of creation, over all recorded iterations.
struct RecordedNode {
  Task* task;
  // With kEmpty: the address of the set that it gathers; identifies the node, with `step`, in every iteration.
  void* address;
  uint32_t step;
  uint32_t last_successor;  // the last node that took an edge from this one: for dropping duplicates
  uint8_t iteration;
  NodeKind kind;
};

struct RecordedEdge {
  uint32_t from, to;
};

struct AddressExclusion {
  void* address;
  Exclusion* exclusion;
};

// All indices and counts have 32 bits: an Array ends the program before it has 2^32 items.
struct GraphRecord {
  static constexpr int kInstances = 2;

  // Used while recording.
  Array<RecordedNode> nodes;
  Array<RecordedEdge> edges;
  // Number of the iteration that is being recorded.
  uint8_t iteration;
  // Index of the node of the step that is being entered.
  uint32_t current;
  // Set during reenter_graph.
  bool reentering;
  // Kept after recording. `steps` and `dependences` are of each recorded iteration; replays are compared with the last
  // one.
  Array<GraphStep> steps[kInstances];
  Array<Dependence> dependences[kInstances];
  Array<AddressExclusion> exclusions;  // sorted by address: one for each address with a mutexinoutset access
  // Made by record_build.
  int instances;
  GraphNode* instance[kInstances];  // nodes of the steps first, then the gather nodes
  uint32_t node_count;
  GraphNode** successors;    // the slices of all nodes
  GraphNode** predecessors;  // the slices of all nodes with predecessors; null: target tasks have no observer
};

// Whether the task or node seems to be in a record that its producer is making: Task::record_index is then odd, which
// no pointer is. An uninitialised field may be odd, too. Called by the producer's thread.
inline bool is_recorded(const Task* task) { return (task->record_index & 1) != 0; }

// Records a step, before its dependences are entered. Returns its index.
uint32_t record_step(GraphRecord* record, NodeKind kind, Task* task, const Dependence* list, size_t count);
// Makes the task, or the empty node of a wait, the node of the current step.
void record_as_current(GraphRecord* record, Task* task);
void record_gather(GraphRecord* record, Task* node, void* address);
void record_edge(GraphRecord* record, const Task* from, const Task* to);

// Builds the nodes from `instances` recorded iterations; all of their tasks have ended. False: the iterations differ.
[[nodiscard]] bool record_build(Worker* worker, GraphRecord* record, int instances);

// Called right after the building, where priorities propagate: from each node to its predecessors in the same
// iteration.
void record_propagate(GraphRecord* record);

// Removes everything, but keeps the memory of the arrays. No task of the record is unfinished.
void record_clear(Worker* worker, GraphRecord* record);
void record_free(Worker* worker, GraphRecord* record);

// Whether the producer's construct equals the one that was recorded as this step.
bool step_matches(const GraphRecord* record, const GraphStep& step, NodeKind kind, const Dependence* list,
                  size_t count);

// Takes the producer's guard off a node whose construct the producer has encountered. True: all predecessors have
// completed and the node is re-armed, so the caller makes the node's task ready (once the task has its exclusions).
// False: the thread that completes the last predecessor does so.
[[nodiscard]] bool release_guard(GraphNode* node);

// Reports to the library that all predecessors of a claimed task have completed. The task may end on another thread at
// once; then it belongs to the graph again.
void report_recorded_ready(Task* task);

// Called for a node for which the producer creates no task.
void release_empty(Worker* worker, GraphNode* node);

// A task of a replay has ended: counts its static successors down. Tasks that become ready are appended to `ready`.
void notify_recorded(Worker* worker, Task* task, TaskFifo& ready);

Exclusion* recorded_exclusion(const GraphRecord* record, void* address);

}  // namespace marline
