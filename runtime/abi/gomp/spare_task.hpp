// SPDX-License-Identifier: Apache-2.0
//
// Descriptors for tasks of GCC's code that are called where they are created, and are used again for the next such
// task if nothing else uses them: the worker keeps those of undeferred tasks (Worker::spare_tasks, in_place.hpp), the
// fiber that of a deferred task that runs at its creation (Fiber::stub, simple_task.hpp). leaves_nothing says whether
// nothing else uses one (exec/worker/completion.hpp). Invariant: become_task sets some
// fields of a kept descriptor; all others are as in a new one. The worker's list is as long as such tasks were ever
// nested on it.
#pragma once

#include "abi/gomp/task_block.hpp"
#include "exec/worker/cancellation.hpp"
#include "sched/team.hpp"

namespace marline::gomp {

// A descriptor to be kept.
[[gnu::noinline]] Task* new_spare(Worker* worker);

// Makes the descriptor that of a child of `creator`. `flags`: of task_flag.
[[gnu::always_inline]] inline void become_task(const Task* creator, Task* task, Function function, uint32_t flags) {
  task->parent = const_cast<Task*>(creator);
  task->team = creator->team;
  task->icvs = creator->icvs;
  task->flags = flags;
  join_group(creator, task);
  reinterpret_cast<TaskBlock*>(task + 1)->function = function;  // for `marline ps`
}

}  // namespace marline::gomp
