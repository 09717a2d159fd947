// SPDX-License-Identifier: Apache-2.0
//
// Queues the tasks that were held back (MARLINE_DISCOVERY=first).
#include "sched/held.hpp"

namespace marline {

void release_held_slowly(Worker* worker, const Task* parent) {
  TaskFifo tasks = worker->held;
  worker->held = {};
  while (Task* task = tasks.pop_front()) {
    if (parent == nullptr || task->parent == parent) {
      enqueue(worker, task);
    } else {
      worker->held.push_back(task);
    }
  }
}

}  // namespace marline
