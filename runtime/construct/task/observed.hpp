// SPDX-License-Identifier: Apache-2.0
//
// Marks a target task of which a library is notified as it is created, and which it may claim (devices.h;
// graph/claims.hpp). A face marks such a task before it spawns it.
#pragma once

#include "marline/devices.h"
#include "task/task.hpp"

namespace marline {

// The lengths of the list items of a task's dependences; 0: not known. The creator's, until the task has been created.
struct DependenceLengths {
  size_t count;
  const size_t* bytes;
};

// Called between the allocation of a target task without a detach clause and its creation. `describe` writes what the
// task is; construct/task/offers.cpp adds the rest of what the observer gets.
inline void let_observe(Task* task, void (*describe)(Task*, marline_target_task&)) {
  task->flags |= task_flag::kObserved;
  task->describe = describe;
  task->lengths = nullptr;
}

// What the face has set for a task, kept for a graph that repeats the task without the program's code.
struct Observed {
  void (*describe)(Task*, marline_target_task&) = nullptr;
  int64_t target_device = 0;
  const DependenceLengths* lengths = nullptr;
};

}  // namespace marline
