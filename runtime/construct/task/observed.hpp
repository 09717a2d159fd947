// SPDX-License-Identifier: Apache-2.0
//
// Target tasks that a library sees as they are created, and may claim (devices.h; graph/claims.hpp). A face marks such
// a task before it spawns it. The creator's thread.
#pragma once

#include "construct/task/task.hpp"
#include "marline/devices.h"

namespace marline {

// How long the list items of a task's dependences are; 0: not known. The creator's, until the task has been created.
struct DependenceLengths {
  size_t count;
  const size_t* bytes;
};

// Between the allocation of a target task without a detach clause and its creation. `describe` tells what the task is;
// the rest of what the observer is told is known here.
inline void let_observe(Task* task, void (*describe)(Task*, marline_target_task&)) {
  task->flags |= task_flag::kObserved;
  task->describe = describe;
  task->lengths = nullptr;
}

// What the face has said of it, for a task that a graph repeats without the program's code.
struct Observed {
  void (*describe)(Task*, marline_target_task&) = nullptr;
  int64_t target_device = 0;
  const DependenceLengths* lengths = nullptr;
};

// The task is a child of the current one, and has kObserved. True: it is claimed, and nothing is left to be done for
// it. False: it is an ordinary task.
[[nodiscard]] bool tell_observer(Worker* worker, Task* task, const Dependence* list, size_t count, const void* codeptr);

// The next iteration of a told graph is as the one before in all (`repeats`). True: the observer does it, and a child
// of the current task ends with it. False: it does not, and its tasks are to be created.
[[nodiscard]] bool let_repeat(Worker* worker, uint64_t graph);

// Likewise, but for firstprivate data. True: the observer does its tasks, which tell_again shows it.
[[nodiscard]] bool let_renew(Worker* worker, uint64_t graph);
// A target task of that iteration, which is not created. True: the observer does it.
[[nodiscard]] bool tell_again(Worker* worker, Task* task, const void* codeptr);

}  // namespace marline
