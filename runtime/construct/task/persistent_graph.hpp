// SPDX-License-Identifier: Apache-2.0
//
// What the two halves of persistent graphs share: a graph's state, and the steps through its record (persistent.cpp);
// what an observer of target tasks is told of it (persistent_claims.cpp). The producer's thread.
#pragma once

#include "construct/task/observed.hpp"
#include "construct/task/persistent.hpp"
#include "graph/table.hpp"

namespace marline {

enum class GraphState : uint8_t {
  kUnused,  // before the first iteration
  kRecording,
  kReplaying,   // so far this iteration is what was recorded
  kUnrecorded,  // it is not: its tasks are ordinary ones from here on
};

// What a replay without the producer's code gives a task back.
struct Snapshot {
  int32_t priority;
  int32_t domain;
  uint32_t look;
  const char* label;
  Observed observed;  // null: nobody was to be told of it
  DependenceLengths lengths;
  void* bytes() { return this + 1; }
};

struct Allocation {
  TaskShape shape;
  Task* task;          // null: it has become an ordinary one
  Snapshot* snapshot;  // kReplay: of the block, as spawned
  bool dropped;
};

struct PersistentGraph {
  Task* producer;
  GraphMode mode;
  GraphState state = GraphState::kUnused;
  bool open = false;               // the producer is between its first iteration and the end
  bool invalid = false;            // the next iteration is to be recorded
  bool replayable = true;          // without the producer's code
  bool previous_replayed = false;  // tasks of the iteration before may be unfinished
  int recorded = 0;                // iterations in the record
  int instance = 0;                // of the current iteration
  uint32_t position = 0;           // the next step
  uint32_t allocated = 0;          // the next allocation
  uint64_t told = 0;               // the record's number for the observer of target tasks; 0: it hears of no iteration
  bool is_told = false;            // it has heard of this one, which is still what was recorded
  bool renews = true;  // it may be asked whether it does iterations whose code runs: none has had a taskgroup
  uint32_t renewal_pause =
      0;  // so many iterations, recorded ones too, before it is asked again, as one has gone another way
  uint32_t next_pause = 4;  // the next time
  bool is_renewed = false;  // it does this one, of whose tasks it hears
  bool is_whole = false;    // it does all of this one, of whose tasks the record knows nothing
  Observed observed;        // of the task that is being recorded
  GraphRecord record{};
  Array<Allocation> allocations[GraphRecord::kInstances];
  DependenceTable* table = nullptr;
  DependenceTable* producers_table = nullptr;
  Taskgroup* producers_group = nullptr;
  Taskgroup groups[GraphRecord::kInstances];  // the tasks of an iteration

  static constexpr uint32_t kLongestPause = 1024;  // each is twice the one before

  int instances() const { return mode == GraphMode::kNowait ? 2 : 1; }
  Array<GraphStep>& steps() { return record.steps[record.instances - 1]; }
  GraphNode* node(uint32_t step) { return &record.instance[instance][step]; }
};

inline PersistentGraph* graph_of(const Task* producer) { return producer->table->graph; }

// persistent.cpp: the step that the producer comes to next; null: there is none.
GraphStep* next_step(Worker* worker, PersistentGraph* graph);
// It has come to something else.
void go_on_unrecorded(Worker* worker, PersistentGraph* graph);
// A descriptor that was handed out before that.
void make_ordinary(Worker* worker, PersistentGraph* graph, Task* task);
// The next step of an iteration that is being recorded.
void record_task(PersistentGraph* graph, Task* task, const Dependence* list, size_t count);

// persistent_claims.cpp: in a replay, a task that is not claimed, or a thread, waits at this node: the observer hears
// which claimed tasks it waits for, also behind an inoutset's gathering, but not behind tasks that were dropped.
void await_claimed_before(const PersistentGraph* graph, const GraphNode* node);

// Likewise: the graph has been recorded, and is to be repeated; an iteration of it begins; ends, or goes
// another way; the record goes.
void begin_told(PersistentGraph* graph);
void begin_told_iteration(PersistentGraph* graph);
// Its tasks have the data that they had in the one before. True: the observer does it as a whole.
[[nodiscard]] bool repeat_told_iteration(PersistentGraph* graph);
// Its code runs: they may have other data. The observer may do it all the same (renew_persistent).
void renew_told_iteration(PersistentGraph* graph);
void pause_renewal(PersistentGraph* graph);
void end_told_iteration(PersistentGraph* graph);
void end_told(PersistentGraph* graph);

}  // namespace marline
