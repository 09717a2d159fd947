// SPDX-License-Identifier: Apache-2.0
//
// Predecessors, kept only where priorities propagate (options().priority.propagates): each task and each node of the
// graph then has a Lineage at the end of its memory, with references to its predecessors. A climb goes from a task up
// to its predecessors and raises their priorities. It stops at a task whose priority it does not raise, and after a
// bounded number of steps.
//
// One word holds the list, with three states (docs/design/priorities.md):
//   a list   published once by the creator, before the task can complete; zero before that, and if it is empty
//   busy     a climber has taken the list to read it, and puts it back
//   closed   the task has completed: the list is dropped, by the completion, or by the climber that had it
// No thread waits for a state. A task keeps references to its predecessors until it completes, and never to their
// predecessors. So the memory depends only on the edges between unfinished tasks.
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
  Atomic<uintptr_t> list;  // creator (publish), climbers, completion (close)
  Lineage* next;           // link in the list of tasks to climb from
  Task* task;
  uint64_t construct;      // graph/profile.hpp; creator
  uint64_t profile;        // 0 until the task is spawned
  Atomic<uint32_t> waits;  // 1: in that list; creator and the climber
  bool node;               // a node without a body: not a step of `decrement`
  bool claimed;            // the library that has the task hears of its priority; creator, before others know the task
};

static_assert(sizeof(Lineage) == Options::kLineageBytes);

// Bytes that a descriptor needs behind everything else.
inline size_t lineage_bytes() { return options().priority.lineage_bytes; }

// The rest only where priorities propagate.

// At the very end of the block, wherever the rest of the descriptor ends.
inline Lineage* lineage_of(Task* task) {
  return reinterpret_cast<Lineage*>(reinterpret_cast<char*>(task) + SlabPool::usable_bytes(task)) - 1;
}

// Creator, right after the allocation.
void lineage_begin(Task* task, uint64_t construct, bool node);

// Creator: adds a predecessor, which a table holds, to a list that is being made.
void lineage_add(Worker* worker, PredecessorChunk*& list, Task* predecessor);

// Creator, before the task can complete: the list is complete.
void lineage_publish(Task* task, PredecessorChunk* list);

// The task has completed: its predecessors are let go.
void lineage_close(Worker* worker, Task* task);

// A task has been created: if it has a priority, its predecessors get theirs, now or when a worker is idle. The caller
// holds the task.
void propagate_priority(Worker* worker, Task* task);

// An idle worker climbs from one of the tasks that wait for it; one worker at a time. False: there was nothing to do.
bool propagate_when_idle(Worker* worker);

}  // namespace marline
