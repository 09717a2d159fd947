// SPDX-License-Identifier: Apache-2.0
//
// Deferred tasks without clauses, where they do not go the short way, or leave it.
#include "abi/gomp/simple_task.hpp"

#include "exec/worker/run_task.hpp"
#include "sched/progress.hpp"

namespace marline::gomp {

namespace {

[[gnu::always_inline]] inline Task* make_simple(Worker* worker, Function function, void* data, size_t bytes,
                                                unsigned flags) {
  Task* task = allocate_simple(worker, {.invoke = invoke,
                                        .code = code_of(function),
                                        .flags = task_flags(flags & (kUntied | kMergeable)),
                                        .block_bytes = sizeof(TaskBlock) + bytes});
  fill_block(task, function, sizeof(TaskBlock));
  copy_bytes(arguments_of(task), data, bytes);
  return task;
}

}  // namespace

void create_with_descriptor(Worker* worker, Function function, void* data, size_t bytes, unsigned flags,
                            const void* codeptr) {
  if (Fiber* spare = worker->spares.first; spare != nullptr && spare->stub == nullptr) spare->stub = new_spare(worker);
  spawn_simple(worker, make_simple(worker, function, data, bytes, flags), codeptr);
}

void complete_rarely(Worker* worker, Task* task) {
  Fiber* fiber = last_called(worker);
  check_overrun(fiber);
  if (!leaves_nothing(task)) {
    fiber->stub = nullptr;
    complete_uncounted(worker, task);
  }
  progress_at_scheduling_point(worker);
}

void queue(Worker* worker, Function function, void* data, size_t bytes, unsigned flags, const void* codeptr) {
  queue_simple(worker, make_simple(worker, function, data, bytes, flags), codeptr);
}

}  // namespace marline::gomp
