// SPDX-License-Identifier: Apache-2.0
//
// Deferred tasks without clauses. The functions that are not in line end in calls of each other, so that those on the
// short ways need no frame.
#include "abi/gomp/simple_task.hpp"

#include "abi/gomp/spare_task.hpp"
#include "exec/fiber/fiber.hpp"
#include "exec/worker/completion.hpp"
#include "exec/worker/run_task.hpp"
#include "exec/worker/throttle.hpp"
#include "sched/progress.hpp"
#include "sched/queue.hpp"

namespace marline::gomp {

namespace {

// The largest argument block for the short way.
constexpr size_t kMostInPlace = 64;

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

// Any task, and makes the short way possible for the next one.
[[gnu::noinline]] void create_with_descriptor(Worker* worker, Function function, void* data, size_t bytes,
                                              unsigned flags, const void* codeptr) {
  if (worker->spare_tasks == nullptr) add_spare(worker);
  flush_reports(worker);
  spawn_simple(worker, make_simple(worker, function, data, bytes, flags), codeptr);
}

// As copy_bytes, for up to kMostInPlace bytes, without a call.
[[gnu::always_inline]] inline void copy_in_line(void* to, const void* from, size_t bytes) {
  if (bytes <= 32) return copy_bytes(to, from, bytes);
  std::memcpy(to, from, 32);  // the first and the last half of 64, which may overlap
  std::memcpy(static_cast<char*>(to) + bytes - 32, static_cast<const char*>(from) + bytes - 32, 32);
}

// The body of a task that goes the short way, on a fiber of its own.
void run_called(void* argument) {
  auto* task = static_cast<Task*>(argument);
  Fiber* self = this_worker_or_null()->fiber;
  const TaskBlock* block = block_of(task);
  block->function(block->arguments);
  if (!self->called) [[unlikely]] {
    end_called(self, task);
  }
}

// The task has run through, but its descriptor may outlive it.
[[gnu::noinline]] void complete_fully(Worker* worker, Task* task) {
  count_in_creator(task);
  if (Task* next = complete_called(worker, task, nullptr)) enqueue(worker, next);
}

// Whether nothing has to be done around the task, but to call it.
[[gnu::always_inline]] inline bool may_be_called(const Worker* worker, size_t bytes) {
  return worker->spare_tasks != nullptr && bytes <= kMostInPlace && worker->member->team->level != 0 &&
         worker->reports.count == 0 && g_cancellations.load(relaxed) == 0 && !throttle_is_due(worker) &&
         !progress_pending() && !priorities_in_use();
}

[[gnu::noinline]] void call_simple(Worker* worker, Function function, void* data, size_t bytes, unsigned flags,
                                   const void* codeptr) {
  Fiber* spare = fiber_to_call(worker);
  if (spare == nullptr || !may_be_called(worker, bytes)) [[unlikely]] {
    return create_with_descriptor(worker, function, data, bytes, flags, codeptr);
  }
  auto* own = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(spare) - bytes) & ~(sizeof(TaskBlock) - 1));
  copy_in_line(own, data, bytes);
  Task* task = worker->spare_tasks;
  take_spare(worker, task, function, own, flags, 0);
  if (!call_at_creation(worker, spare, task, own, run_called)) [[unlikely]] {
    return;
  }
  // Found again, so that no register has to be kept across the call.
  worker = this_worker_or_null();
  task = worker->task;
  return_from_call(worker);
  progress_at_scheduling_point(worker);
  if (!is_spare_again(task)) [[unlikely]] {
    return complete_fully(worker, task);
  }
  keep_spare(worker, task);
}

[[gnu::noinline]] void queue(Worker* worker, Function function, void* data, size_t bytes, unsigned flags,
                             const void* codeptr) {
  queue_simple(worker, make_simple(worker, function, data, bytes, flags), codeptr);
}

}  // namespace

void create_simple(Worker* worker, Function function, void* data, size_t bytes, unsigned flags, const void* codeptr) {
  if (runs_at_once<plenty_in_deque>(worker, nullptr)) return call_simple(worker, function, data, bytes, flags, codeptr);
  queue(worker, function, data, bytes, flags, codeptr);
}

}  // namespace marline::gomp
