// SPDX-License-Identifier: Apache-2.0
//
// The predecessors of tasks, kept only where priorities propagate (options().priority.propagates). Each task and each
// node of the graph then has a Lineage at the end of its memory, with references to its predecessors. A climb goes from
// a task up to its predecessors and raises their priorities. It does not continue from a task with an equal or higher
// priority, and it ends after a bounded number of steps.
//
// One word holds the list, with three states (docs/design/priorities.md):
//   a list   published once by the creator, before the task can complete; zero before that, or if the list is empty
//   busy     a climber has taken the list to read it, and puts it back
//   closed   the task has completed: the list is dropped, by the completion, or by the climber that has it
// No thread waits for a state. A task keeps references to its predecessors until it completes, and never to
// predecessors of its predecessors. So the memory depends only on the edges between unfinished tasks.
#pragma once

#include "config/options.hpp"
#include "sched/team.hpp"

namespace marline {

struct PredecessorChunk {
  static constexpr int kTasks = 14;
  PredecessorChunk* next;
  int used;
  Task* tasks[kTasks];  // each referenced (Task::references)
};

struct Lineage {
  Atomic<uintptr_t> list;  // written by the creator (publish), by climbers, and by the completion (close)
  Lineage* next;           // link in the list of tasks to climb from
  Task* task;
  uint64_t construct;  // hash of the construct (graph/profile.hpp); written by the creator
  uint64_t profile;    // 0 until the task is spawned
  // 1: the task is in the list of tasks to climb from. Written by the creator and by the climber.
  Atomic<uint32_t> waits;
  bool node;  // a node without a body: `decrement` does not count it as a step
  // The library that has claimed the task is notified of its priority; set by the creator, before other threads know
  // the task.
  bool claimed;
};

static_assert(sizeof(Lineage) == Options::kLineageBytes);

// Bytes that a descriptor needs after all its other parts.
inline size_t lineage_bytes() { return options().priority.lineage_bytes; }

// Call the functions below only where priorities propagate.

// The Lineage is at the very end of the block, wherever the rest of the descriptor ends.
inline Lineage* lineage_of(Task* task) {
  return reinterpret_cast<Lineage*>(reinterpret_cast<char*>(task) + SlabPool::usable_bytes(task)) - 1;
}

// Called by the creator, right after the allocation.
void lineage_begin(Task* task, uint64_t construct, bool node);

// Called by the creator: adds a predecessor, to which a table holds a reference, to a list that is not published yet.
void lineage_add(Worker* worker, PredecessorChunk*& list, Task* predecessor);

// Called by the creator, before the task can complete: the list is complete.
void lineage_publish(Task* task, PredecessorChunk* list);

// The task has completed: drops the references to its predecessors.
void lineage_close(Worker* worker, Task* task);

// Called when a task has been created. If it has a priority, its predecessors get theirs, now or when a worker is idle.
// The caller holds a reference to the task.
void propagate_priority(Worker* worker, Task* task);

// An idle worker climbs from one of the waiting tasks; one worker at a time. False: there was nothing to do.
bool propagate_when_idle(Worker* worker);

}  // namespace marline
