// SPDX-License-Identifier: Apache-2.0
//
// A persistent graph: its state, and the reports to an observer of target tasks. Used by the producer's thread.
#pragma once

#include "construct/task/allocation.hpp"
#include "construct/task/observed.hpp"
#include "graph/recorded_graph.hpp"
#include "graph/table.hpp"

namespace marline {

enum class GraphMode : int { kBarrier, kNowait, kReplay };

enum class GraphState : uint8_t {
  kUnused,  // before the first iteration
  kRecording,
  kReplaying,   // so far this iteration equals the recorded one
  kUnrecorded,  // this iteration differs from the recorded one: from here on its tasks are ordinary ones
};

// The values that a replay without the producer's code restores in a task.
struct Snapshot {
  int32_t priority;
  int32_t domain;
  uint32_t look;
  const char* label;
  Observed observed;  // null: the observer was not to be notified of the task
  DependenceLengths lengths;
  void* bytes() { return this + 1; }
};

struct Allocation {
  TaskShape shape;
  Task* task;          // null: the task has become an ordinary one
  Snapshot* snapshot;  // kReplay: of the task's block, as spawned
  bool dropped;
};

struct PersistentGraph {
  Task* producer;
  GraphMode mode;
  GraphState state = GraphState::kUnused;
  // The producer is between its first iteration and the end.
  bool open = false;
  // The next iteration must be recorded.
  bool invalid = false;
  // Can be replayed without the producer's code.
  bool replayable = true;
  // Tasks of the iteration before may be unfinished.
  bool previous_replayed = false;
  // For tools: the graph's number, and how many iterations have begun.
  uint64_t number = 0;
  uint64_t begun = 0;
  // How many of the iterations before this one may have unfinished tasks.
  uint32_t unfinished = 0;
  // Number of iterations in the record.
  int recorded = 0;
  // The instance of the current iteration.
  int instance = 0;
  // Index of the next step.
  uint32_t position = 0;
  // Index of the next allocation.
  uint32_t allocated = 0;
  // The record's number for the observer of target tasks; 0: its iterations are not reported.
  uint64_t reported_as = 0;
  // The observer has been notified of this iteration, which still equals the recorded one.
  bool is_reported = false;
  // Iterations whose code runs may be offered to the observer: none has had a taskgroup.
  bool replays_with_arguments = true;
  // So many iterations, recorded ones included, pass before the next offer, because an offered iteration differed.
  uint32_t renewal_pause = 0;
  // The value of renewal_pause after the next such iteration.
  uint32_t next_pause = 4;
  // The observer runs this iteration, and is notified of each of its tasks.
  bool is_renewed = false;
  // The observer runs this whole iteration; the record does not know when its tasks end.
  bool is_whole = false;
  // Of the task that is being recorded.
  Observed observed;
  GraphRecord record{};
  Array<Allocation> allocations[GraphRecord::kInstances];
  DependenceTable* table = nullptr;
  DependenceTable* producers_table = nullptr;
  Taskgroup* producers_group = nullptr;
  Taskgroup groups[GraphRecord::kInstances];  // of each instance: the tasks of its iteration

  static constexpr uint32_t kLongestPause = 1024;  // each pause is twice the one before, up to this

  int instances() const { return mode == GraphMode::kNowait ? 2 : 1; }
  Array<GraphStep>& steps() { return record.steps[record.instances - 1]; }
  GraphNode* node(uint32_t step) { return &record.instance[instance][step]; }
};

inline PersistentGraph* graph_of(const Task* producer) { return producer->table->graph; }

// Whether the node is a gather node. It has no step; its predecessors are the members of a set, which are tasks.
bool is_gather(const GraphRecord* record, const GraphNode* node);

// Calls `visit` for each predecessor of the node, until it returns false. For a node with a step, `required` also
// counts the producer.
template <class Visit>
bool for_all_before(const PersistentGraph* graph, const GraphNode* node, const Visit& visit) {
  GraphNode** predecessors = graph->record.predecessors;
  if (predecessors == nullptr) return false;  // the observer was registered after the graph was built
  GraphNode** first = predecessors + node->first_predecessor;
  GraphNode** end = first + node->required - (is_gather(&graph->record, node) ? 0 : 1);
  for (GraphNode** at = first; at != end; ++at) {
    if (!visit(**at)) return false;
  }
  return true;
}

// Called in a replay when a task that the observer has not claimed, or the producer's thread, waits at this node.
// Notifies the observer that the ends of the claimed tasks among the node's predecessors are awaited. If a predecessor
// is the gather node of an inoutset, the predecessors of that node count, too. If a predecessor belongs to a task that
// the producer no longer creates, its predecessors do not count.
void await_claimed_before(const PersistentGraph* graph, const GraphNode* node);

// These notify the observer of target tasks, if it has claimed all tasks of the recorded iteration. begin_reported: the
// graph has been recorded, and will be repeated; gives the record its number for the observer.
// begin_reported_iteration: an iteration begins. end_reported_iteration: it ends, or differs from the record.
// end_reported: the record is discarded.
void begin_reported(PersistentGraph* graph);
void begin_reported_iteration(PersistentGraph* graph);
// An iteration that the observer runs (`is_renewed`) has differed from the record: some iterations pass before the next
// one is offered to the observer.
void pause_renewal(PersistentGraph* graph);
void end_reported_iteration(PersistentGraph* graph);
void end_reported(PersistentGraph* graph);

}  // namespace marline
