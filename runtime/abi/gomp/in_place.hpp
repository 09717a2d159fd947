// SPDX-License-Identifier: Apache-2.0
//
// Undeferred tasks of GCC's code (`if(0)`, a final parent) by the short way: the program's function is called in place.
// Its argument block is the creator's, or a copy on the stack if the compiler passes a function that copies. The task
// is a task like any other: it may create tasks, suspend, and continue on another thread. Run by the thread that runs
// the creator.
//
// Two things make the way short.
// - Descriptors. A worker keeps the descriptors of ended tasks (spare_task.hpp).
// - Counts. The creator waits for the task, so nobody can ask for the creator's counts of its children meanwhile. The
//   task is counted only at its end, and only if a part of its subtree outlives it.
#pragma once

#include "abi/gomp/spare_task.hpp"
#include "exec/worker/cancellation.hpp"
#include "sched/team.hpp"

namespace marline::gomp {

// Whether an undeferred task without a detach clause can go the short way. A task with dependences can if no earlier
// child of the creator has any: then it has no predecessor.
inline bool may_run_in_place(const Worker* worker, bool has_dependences) {
  const Task* creator = worker->task;
  return worker->next_task == nullptr &&
         !any_condition(condition::kOptions | condition::kCancellations) &&  // so there is no tool
         !creator->has(task_flag::kSharesTable | task_flag::kInGraph) &&
         !(has_dependences && creator->table != nullptr);
}

// Runs the task, from its creation to its end. `flags`: of GOMP_task.
[[gnu::noinline]] void run_in_place(Worker* worker, Function function, void* data, unsigned flags);

// The same with a copy of the argument block that `copy` makes.
[[gnu::noinline]] void run_in_place_copying(Worker* worker, Function function, void* data, CopyFunction copy,
                                            size_t bytes, size_t align, unsigned flags);

}  // namespace marline::gomp
