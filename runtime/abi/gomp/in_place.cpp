// SPDX-License-Identifier: Apache-2.0
//
// Undeferred tasks by the short way. The functions that are not in line are rare.
#include "abi/gomp/in_place.hpp"

#include "exec/fiber/fiber.hpp"

#include <alloca.h>

namespace marline::gomp {

namespace {

TaskBlock* block_of(Task* task) { return reinterpret_cast<TaskBlock*>(task + 1); }

void add_spare_task(Worker* worker) {
  Task* task =
      allocate_simple(worker, {.invoke = nullptr, .code = nullptr, .flags = 0, .block_bytes = sizeof(TaskBlock)});
  task->next = worker->spare_tasks;
  worker->spare_tasks = task;
}

// The first task on a worker, or the first at its depth: without a spare descriptor.
[[gnu::noinline]] void run_with_new_descriptor(Worker* worker, Function function, void* data, unsigned flags) {
  add_spare_task(worker);
  run_in_place(worker, function, data, flags);
}

// Takes a spare descriptor and makes it the current task.
[[gnu::always_inline]] inline void begin(Worker* worker, Task* task, Function function, void* data, unsigned flags) {
  worker->spare_tasks = task->next;
  Task* creator = worker->task;
  task->parent = creator;
  task->team = creator->team;
  task->taskgroup = creator->taskgroup;
  task->icvs = creator->icvs;
  static_assert(kUntied == task_flag::kTied && task_flag::kTied == 1 &&
                kFinal == task_flag::kFinal);  // fewer instructions
  const uint32_t own = (flags ^ kUntied) & (task_flag::kTied | task_flag::kFinal);
  task->flags = own | (creator->flags & task_flag::kFinal) | task_flag::kUndeferred;
  if (Taskgroup* group = creator->taskgroup) {
    task->serial = group->owner == creator ? next_serial(group->order) : creator->serial;
  }
  *block_of(task) = {function, data};  // for `marline ps`
  fence_signal();
  worker->task = task;
  worker->fiber->tied_frames += own & task_flag::kTied;
}

// Whether the task leaves its descriptor as it was when it began.
[[gnu::always_inline]] inline bool is_spare_again(const Task* task) {
  constexpr uint32_t kMore = task_flag::kGraph | task_flag::kInTable | task_flag::kOwnIcvs | task_flag::kHolds |
                             task_flag::kPinned | task_flag::kSharesTable;
  // acquire: as in has_no_children (exec/worker/completion.hpp).
  const uint64_t children = task->created | task->children.load(acquire);
  return !task->has(kMore) && (children | reinterpret_cast<uintptr_t>(task->table)) == 0;
}

// What become_child (construct/task/allocation.hpp) does for other tasks when they are created.
void count_in_creator(const Task* task) {
  Task* creator = task->parent;
  ++creator->created;
  Taskgroup* group = task->taskgroup;
  if (group == nullptr) return;
  if (group->owner == creator) {
    ++group->created;
  } else {
    group->count.fetch_add(Taskgroup::kOne, relaxed);  // the creator is counted there: the group has not ended
  }
}

// The task ends on another thread, or its descriptor may outlive it.
[[gnu::noinline]] void end_fully(Task* task) {
  count_in_creator(task);
  end_undeferred(task);
}

// `begun_on`: the worker that began the task.
[[gnu::always_inline]] inline void end(const Worker* begun_on, Task* task) {
  Worker* worker = this_worker_or_null();
  if (worker != begun_on || !is_spare_again(task)) [[unlikely]] {
    return end_fully(task);
  }
  worker->fiber->tied_frames -= task->flags & task_flag::kTied;
  worker->task = task->parent;
  fence_signal();
  task->next = worker->spare_tasks;
  worker->spare_tasks = task;
}

}  // namespace

void run_in_place(Worker* worker, Function function, void* data, unsigned flags) {
  Task* task = worker->spare_tasks;
  if (task == nullptr) [[unlikely]] {
    return run_with_new_descriptor(worker, function, data, flags);
  }
  begin(worker, task, function, data, flags);
  function(data);
  end(worker, task);
}

void run_in_place_copying(Worker* worker, Function function, void* data, CopyFunction copy, size_t bytes, size_t align,
                          unsigned flags) {
  if (worker->spare_tasks == nullptr) [[unlikely]] {
    add_spare_task(worker);
  }
  void* own = aligned_to(align, alloca(bytes + align - 1));
  Task* task = worker->spare_tasks;
  begin(worker, task, function, own, flags);
  copy(own, data);
  function(own);
  end(worker, task);
}

}  // namespace marline::gomp
