// SPDX-License-Identifier: Apache-2.0
//
// MARLINE_DISCOVERY=first: the tasks that a task creates are held back until their creator waits, suspends or ends, so
// that the graph is complete before it runs. Used by the thread that runs the creator. Invariant: a task that is held
// back was created by the worker's current task, or by a task below it on the same stack, which cannot continue before
// the current task ends or waits.
#pragma once

#include "sched/queue.hpp"

namespace marline {

inline void hold_back(Worker* worker, Task* task) { worker->held.push_back(task); }

// Queues the tasks that `parent` has created or, without a parent, the tasks that all tasks on this stack have created.
void release_held_slowly(Worker* worker, const Task* parent);

inline void release_held(Worker* worker, const Task* parent) {
  if (!worker->held.empty()) [[unlikely]] {
    release_held_slowly(worker, parent);
  }
}

}  // namespace marline
