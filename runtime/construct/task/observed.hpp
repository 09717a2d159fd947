// SPDX-License-Identifier: Apache-2.0
//
// Target tasks of which a library is notified as they are created, and which it may claim (devices.h;
// graph/claims.hpp). A face marks such a task before it spawns it. Used by the creator's thread.
#pragma once

#include "construct/task/task.hpp"
#include "marline/devices.h"

namespace marline {

// The lengths of the list items of a task's dependences; 0: not known. The creator's, until the task has been created.
struct DependenceLengths {
  size_t count;
  const size_t* bytes;
};

// Called between the allocation of a target task without a detach clause and its creation. `describe` writes what the
// task is; this module adds the rest of what the observer gets.
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

// The task is a child of the current one, and has kObserved. True: the observer has claimed it, and nothing is left to
// be done. False: it is an ordinary task.
[[nodiscard]] bool report_to_observer(Worker* worker, Task* task, const Dependence* list, size_t count,
                                      const void* codeptr);

// Offers the next iteration of a reported graph, which equals the one before, to the observer (`repeats`). True: the
// observer runs it, and a child of the current task ends with it. False: the caller must create its tasks.
[[nodiscard]] bool let_repeat(Worker* worker, uint64_t graph);

// The same for an iteration that may have other firstprivate data. True: the observer runs its tasks, which
// report_again reports one by one.
[[nodiscard]] bool let_renew(Worker* worker, uint64_t graph);
// Reports a target task of that iteration, which is not created. True: the observer runs it.
[[nodiscard]] bool report_again(Worker* worker, Task* task, const void* codeptr);

}  // namespace marline
