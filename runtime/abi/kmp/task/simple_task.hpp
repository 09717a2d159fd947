// SPDX-License-Identifier: Apache-2.0
//
// Tied deferred tasks of Clang's code without clauses. Where such a task runs at its creation, it mostly goes a short
// way: the program's function is the base frame of the fiber, and the task is counted in its creator only if it blocks,
// or at its end if a part of its subtree outlives it (exec/fiber/fiber.hpp). The program fills the block between the
// allocation and the creation, so it must lie in a descriptor of its own. Run by the thread that runs the creator.
#pragma once

#include "abi/kmp/task/task_block.hpp"
#include "base/conditions.hpp"
#include "exec/fiber/fiber.hpp"
#include "exec/worker/completion.hpp"

namespace marline::kmp {

// Null: the block is to be allocated by allocate_block. `flags`: of Clang.
[[gnu::always_inline]] inline TaskBlock* allocate_quickly(int32_t flags, size_t task_bytes, size_t shareds_bytes,
                                                          TaskBlock::Routine routine) {
  Worker* worker = this_worker_or_null();
  if ((flags & ~(kTaskTied | kTaskFinal)) != 0 || worker == nullptr || any_condition(condition::kOptions) ||
      worker->next_task != nullptr || worker->task->has(task_flag::kInGraph) || routine == nullptr) [[unlikely]] {
    return nullptr;
  }
  static_assert(kTaskTied == task_flag::kTied && kTaskFinal == task_flag::kFinal);
  const size_t shareds_at = shareds_place(task_bytes);
  Task* task = allocate_with_room<true>(worker,
                                        {.invoke = run_task,
                                         .code = nullptr,
                                         .flags = static_cast<uint32_t>(flags & (kTaskTied | kTaskFinal)),
                                         .block_bytes = shareds_at + shareds_bytes},
                                        kExpectedDependences, 0);
  return task != nullptr ? fill_block(task, shareds_at, shareds_bytes, routine) : nullptr;
}

// Creates a task for which is_simple is true, in other ways than the short one. Return 0, as Clang expects it.
[[gnu::noinline]] int32_t spawn_with_descriptor(Worker* worker, Task* task, const void* codeptr);
[[gnu::noinline]] int32_t queue(Worker* worker, Task* task, const void* codeptr);

// The task has run through, but something of it is left, or ends_simply() is false.
[[gnu::noinline]] int32_t complete_rarely(Worker* worker, Task* task);

// Whether create_simple can create the task.
[[gnu::always_inline]] inline bool is_simple_task(const Worker* worker, const Task* task, const TaskBlock* block) {
  return no_conditions() && task->flags == task_flag::kTied && block->priority == 0 && is_simple_creator(worker);
}

[[gnu::always_inline]] inline int32_t create_simple(Worker* worker, Task* task, TaskBlock* block, const void* codeptr) {
  const SimpleWay way = simple_way(worker);
  if (way == SimpleWay::kQueue) return queue(worker, task, codeptr);
  if (way == SimpleWay::kSpawn) [[unlikely]] {
    return spawn_with_descriptor(worker, task, codeptr);
  }
  Fiber* spare = worker->spares.first;
  join_group(worker->task, task);
  if (!call_uncounted(worker, spare, task, 1, spare, block->routine, static_cast<uint32_t>(worker->id),
                      reinterpret_cast<uintptr_t>(block))) [[unlikely]] {
    return 0;
  }
  worker = this_worker_or_null();  // found again, so that no register has to be kept across the call
  task = return_from_call(worker);
  if (ends_simply() && leaves_nothing(task) && worker->pool->takes_back(task)) [[likely]] {
    return 0;
  }
  return complete_rarely(worker, task);
}

}  // namespace marline::kmp
