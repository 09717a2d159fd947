// SPDX-License-Identifier: Apache-2.0
//
// Descriptors for tasks of GCC's code that are called where they are created: undeferred tasks (in_place.hpp), and
// deferred ones that run at their creation (simple_task.hpp). The descriptor is taken from a list of the worker
// (Worker::spare_tasks) and given back, if nothing else uses it. Invariant: descriptors in the list are of the worker's
// own pool, and all fields that take_spare does not set are as in a new descriptor. The list is as long as such tasks
// were ever nested on the worker.
#pragma once

#include "abi/gomp/task_block.hpp"
#include "exec/worker/cancellation.hpp"
#include "sched/team.hpp"

namespace marline::gomp {

inline TaskBlock* block_of(Task* task) { return reinterpret_cast<TaskBlock*>(task + 1); }

// Adds a descriptor to the list.
[[gnu::noinline]] void add_spare(Worker* worker);

// Takes `task`, the first one of the list, for a child of the current task. `flags`: of GOMP_task; `more`: of
// task_flag.
[[gnu::always_inline]] inline void take_spare(Worker* worker, Task* task, Function function, void* data, unsigned flags,
                                              uint32_t more) {
  worker->spare_tasks = task->next;
  Task* creator = worker->task;
  task->parent = creator;
  task->team = creator->team;
  task->taskgroup = creator->taskgroup;
  task->icvs = creator->icvs;
  static_assert(kUntied == task_flag::kTied && task_flag::kTied == 1 &&
                kFinal == task_flag::kFinal);  // fewer instructions
  const uint32_t own = (flags ^ kUntied) & (task_flag::kTied | task_flag::kFinal);
  task->flags = own | (creator->flags & task_flag::kFinal) | more;
  if (Taskgroup* group = creator->taskgroup) {
    task->serial = group->owner == creator ? next_serial(group->order) : creator->serial;
  }
  *block_of(task) = {function, data};  // for `marline ps`
}

// Whether the task has left its descriptor as take_spare found it.
[[gnu::always_inline]] inline bool is_spare_again(const Task* task) {
  constexpr uint32_t kMore = task_flag::kGraph | task_flag::kInTable | task_flag::kOwnIcvs | task_flag::kHolds |
                             task_flag::kPinned | task_flag::kSharesTable;
  // acquire: as in has_no_children (exec/worker/completion.hpp).
  const uint64_t children = task->created | task->children.load(acquire);
  return !task->has(kMore) && (children | reinterpret_cast<uintptr_t>(task->table)) == 0;
}

[[gnu::always_inline]] inline void keep_spare(Worker* worker, Task* task) {
  task->next = worker->spare_tasks;
  worker->spare_tasks = task;
}

}  // namespace marline::gomp
