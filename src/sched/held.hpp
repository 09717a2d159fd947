// SPDX-License-Identifier: Apache-2.0
//
// MARLINE_DISCOVERY=first: what a task creates is kept back until the task waits, suspends or ends, so that the graph is
// known before it runs. The thread that runs the task. Invariant: a task that is kept back was created by the worker's
// current task, or by one below it on the same stack, which cannot go on before the current one has ended or waits.
#pragma once

#include "sched/queue.hpp"

namespace marline {

inline void hold_back(Worker* worker, Task* task) { worker->held.push_back(task); }

// Queues what `parent` has created, or, without a parent, what all tasks on this stack have.
void release_held_slowly(Worker* worker, const Task* parent);

inline void release_held(Worker* worker, const Task* parent) {
  if (!worker->held.empty()) [[unlikely]] {
    release_held_slowly(worker, parent);
  }
}

}  // namespace marline
