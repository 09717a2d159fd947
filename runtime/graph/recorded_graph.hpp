// SPDX-License-Identifier: Apache-2.0
//
// The graph half of persistent task graphs (docs/design/persistent-graphs.md): the record of one or two iterations of a
// producer (tasks, waits, gather nodes, edges), built into nodes with static successors, so that later iterations make
// no edges and do not use a dependence table.
//
// Which thread may access what: only the producer uses the record, builds it and ends it. In a node, any thread that
// completes a predecessor lowers `waiting`. The thread that brings it to zero stores `required` again (re-arms the
// node) and then makes the node's task ready. The other fields of a node are written while no task of the instance is
// unfinished, or by the producer while it holds the node's guard.
//
// Invariant: no decrement that belongs to a node's next round comes before the node was re-armed for it. Proof: the
// design page; model: tests/model/rearm.pml.
#pragma once

#include "base/array.hpp"
#include "graph/dependences.hpp"
#include "graph/exclusion.hpp"

namespace marline {

enum class NodeKind : uint8_t {
  kTask,
  kEmpty,  // a gather node, or the place of a task that the producer no longer creates
  kWait,   // a taskwait with dependences
  // Steps of the replay mode only; no node of the graph.
  kTaskwait,
  kGroupBegin,
  kGroupEnd,
};

struct alignas(kCacheLine) GraphNode {
  static constexpr uint64_t kEnded = ~uint64_t{0};
  Task* task;               // kTask
  Atomic<int32_t> waiting;  // predecessors that have not completed, and the producer's guard
  int32_t required;         // what `waiting` starts each round with
  GraphNode** successors;
  uint32_t successor_count;
  NodeKind kind;
  int32_t priority;            // that its successors hand on; only where priorities propagate
  uint32_t first_predecessor;  // in GraphRecord::predecessors; there are required - 1
  Event* event;                // kWait: to fulfil
  GraphNode* next;             // link of the list of nodes without a task that have been reached
  uint64_t number;  // the producer's. kTask: of its last round, by which the observer of target tasks knows the
                    // task that it has claimed; 0: it has not; kEnded: it has no round yet
};

// One construct of the producer's flow, in the order in which the producer came to them.
struct GraphStep {
  Task* task;                 // kTask
  uint32_t first_dependence;  // in GraphRecord::dependences
  uint32_t dependence_count;
  uint32_t allocation;  // kTask: of the stream of allocations
  NodeKind kind;
  bool dropped;
};

// A node as recorded. Index: order of making, in all recorded iterations together.
struct RecordedNode {
  Task* task;
  void* address;  // kEmpty: whose set it gathers; with `step` its name in every iteration
  uint32_t step;
  uint32_t last_successor;  // the last node that took an edge from this one: drops duplicates
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

  // While recording.
  Array<RecordedNode> nodes;
  Array<RecordedEdge> edges;
  uint8_t iteration;  // that is being recorded
  uint32_t current;   // node of the step that is being entered
  bool reentering;    // reenter_graph is under way
  // Kept. `steps` and `dependences` of each recorded iteration; the last one is what replays are held against.
  Array<GraphStep> steps[kInstances];
  Array<Dependence> dependences[kInstances];
  Array<AddressExclusion> exclusions;  // sorted by address: one for each that is in a mutexinoutset
  // Built.
  int instances;
  GraphNode* instance[kInstances];  // nodes: those of the steps first, then the gather nodes
  uint32_t node_count;
  GraphNode** successors;    // all nodes' slices
  GraphNode** predecessors;  // likewise, of tasks; null: target tasks have no observer
};

// Whether the task, or node, looks like one of a record that its producer is making: Task::record_index is odd, as no
// pointer is. An uninitialised field may look so, too. The producer's thread.
inline bool is_recorded(const Task* task) { return (task->record_index & 1) != 0; }

// Recording. A step, before its dependences are entered; its index.
uint32_t record_step(GraphRecord* record, NodeKind kind, Task* task, const Dependence* list, size_t count);
// The task, or the empty node of a wait, is the node of the current step.
void record_as_current(GraphRecord* record, Task* task);
void record_gather(GraphRecord* record, Task* node, void* address);
void record_edge(GraphRecord* record, const Task* from, const Task* to);

// Builds the nodes from `instances` recorded iterations, all of whose tasks have ended. False: they were not alike.
[[nodiscard]] bool record_build(Worker* worker, GraphRecord* record, int instances);

// Right after the building, where priorities propagate: from each node to its predecessors in the same iteration.
void record_propagate(GraphRecord* record);

// Forgets everything, except the memory of the arrays. No task of the record is unfinished.
void record_clear(Worker* worker, GraphRecord* record);
void record_free(Worker* worker, GraphRecord* record);

// Whether the producer's construct is the one that was recorded in this place.
bool step_matches(const GraphRecord* record, const GraphStep& step, NodeKind kind, const Dependence* list,
                  size_t count);

// The producer has come to the node. True: it is reached, and re-armed; the caller acts on it (a task also has its
// exclusions). False: the last of its predecessors does.
[[nodiscard]] bool release_guard(GraphNode* node);

// A claimed task has been reached. It may end on another thread at once, and is the graph's again.
void tell_recorded_ready(Task* task);

// The producer passes a node that it creates no task for.
void release_empty(Worker* worker, GraphNode* node);

// A task of a replay has ended: counts its static successors down. Tasks that become ready join `ready`.
void notify_recorded(Worker* worker, Task* task, TaskFifo& ready);

Exclusion* recorded_exclusion(const GraphRecord* record, void* address);

}  // namespace marline
