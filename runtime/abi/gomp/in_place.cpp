// SPDX-License-Identifier: Apache-2.0
//
// Undeferred tasks by the short way. The functions that are not in line are rare.
#include "abi/gomp/in_place.hpp"

#include "exec/fiber/fiber.hpp"
#include "exec/worker/completion.hpp"

#include <alloca.h>

namespace marline::gomp {

namespace {

[[gnu::always_inline]] inline void keep_spare(Worker* worker, Task* task) {
  task->next = worker->spare_tasks;
  worker->spare_tasks = task;
}

// The first task on a worker, or the first at its depth: without a spare descriptor.
[[gnu::noinline]] void run_with_new_descriptor(Worker* worker, Function function, void* data, unsigned flags) {
  keep_spare(worker, new_spare(worker));
  run_in_place(worker, function, data, flags);
}

// Takes `task`, the first spare descriptor, and makes it the current task.
[[gnu::always_inline]] inline void begin(Worker* worker, Task* task, Function function, unsigned flags) {
  worker->spare_tasks = task->next;
  static_assert(kUntied == task_flag::kTied && task_flag::kTied == 1 &&
                kFinal == task_flag::kFinal);  // fewer instructions
  const uint32_t own = (flags ^ kUntied) & (task_flag::kTied | task_flag::kFinal);
  const Task* creator = worker->task;
  become_task(creator, task, function, own | (creator->flags & task_flag::kFinal) | task_flag::kUndeferred);
  fence_signal();
  worker->task = task;
  worker->fiber->tied_frames += task->flags & task_flag::kTied;
}

// The task ends on another thread, or its descriptor may outlive it.
[[gnu::noinline]] void end_fully(Task* task) {
  count_in_creator(task);
  end_undeferred(task);
}

// `begun_on`: the worker that began the task.
[[gnu::always_inline]] inline void end(const Worker* begun_on, Task* task) {
  Worker* worker = this_worker_or_null();
  if (worker != begun_on || !leaves_nothing(task)) [[unlikely]] {
    return end_fully(task);
  }
  worker->fiber->tied_frames -= task->flags & task_flag::kTied;
  worker->task = task->parent;
  fence_signal();
  keep_spare(worker, task);
}

}  // namespace

Task* new_spare(Worker* worker) {
  Task* task =
      allocate_simple(worker, {.invoke = nullptr, .code = nullptr, .flags = 0, .block_bytes = sizeof(TaskBlock)});
  *reinterpret_cast<TaskBlock*>(task + 1) = {};
  return task;
}

void run_in_place(Worker* worker, Function function, void* data, unsigned flags) {
  Task* task = worker->spare_tasks;
  if (task == nullptr) [[unlikely]] {
    return run_with_new_descriptor(worker, function, data, flags);
  }
  begin(worker, task, function, flags);
  function(data);
  end(worker, task);
}

void run_in_place_copying(Worker* worker, Function function, void* data, CopyFunction copy, size_t bytes, size_t align,
                          unsigned flags) {
  if (worker->spare_tasks == nullptr) [[unlikely]] {
    keep_spare(worker, new_spare(worker));
  }
  void* own = aligned_to(align, alloca(bytes + align - 1));
  Task* task = worker->spare_tasks;
  begin(worker, task, function, flags);
  copy(own, data);
  function(own);
  end(worker, task);
}

}  // namespace marline::gomp
