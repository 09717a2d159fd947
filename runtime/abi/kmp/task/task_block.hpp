// SPDX-License-Identifier: Apache-2.0
//
// Clang's kmp_task_t, followed by the privates and the shared pointers: allocating it, and running its parts.
#pragma once

#include "abi/kmp/types.hpp"
#include "construct/task/transparent.hpp"
#include "exec/worker/frames.hpp"
#include "sched/pool_tasks.hpp"

namespace marline::kmp {

// Clang allocates a task before it passes the number of its dependences.
inline constexpr size_t kExpectedDependences = 4;

inline uint32_t task_flags(int32_t flags) {
  return ((flags & kTaskTied) ? task_flag::kTied : 0) | ((flags & kTaskFinal) ? task_flag::kFinal : 0) |
         ((flags & kTaskMergedIf0) ? task_flag::kMergeable : 0) |
         ((flags & (kTaskDetachable | kTaskProxy)) ? task_flag::kDetach : 0) |
         ((flags & kTaskDestructors) ? task_flag::kDestroys : 0);
}

// The routine of a task without code, which stands for `taskwait depend nowait` (Intel's compilers).
inline int32_t empty_routine(int32_t, TaskBlock*) { return 0; }

inline void run_further_parts(Task* task, TaskBlock* block) {
  while (task->has(task_flag::kRequeued)) [[unlikely]] {
    task->flags &= ~task_flag::kRequeued;
    call_of(task, block->routine, this_worker()->id, block);
  }
}

inline void run_parts(Task* task, TaskBlock* block) {
  call_of(task, block->routine, this_worker()->id, block);
  run_further_parts(task, block);
}

inline void run_task(Task* task) { run_parts(task, static_cast<TaskBlock*>(task->block)); }

inline void run_task_and_destroy(Task* task) {
  auto* block = static_cast<TaskBlock*>(task->block);
  if (!task->has(task_flag::kDiscarded)) run_parts(task, block);
  if (block->destructors != nullptr) block->destructors(this_worker()->id, block);
}

// Runs a transparent task, with destructors or without.
inline void run_transparent(Task* task) {
  task->has(task_flag::kDestroys) ? run_task_and_destroy(task) : run_task(task);
  if (!task->has(task_flag::kDiscarded)) end_transparent();
}

// Runs a task that threads outside its team may run, with destructors or without.
inline void run_pool_task(Task* task) {
  count_guest_task(this_worker(), 1);
  task->has(task_flag::kDestroys) ? run_task_and_destroy(task) : run_task(task);
  count_guest_task(this_worker(), -1);
}

// Asked before the task's creation.
inline bool is_transparent(const Task* task) {
  return task->has(task_flag::kTransparent) && task->invoke == run_transparent;
}

// Where in a block the shared pointers lie.
inline size_t shareds_place(size_t task_bytes) { return (task_bytes + 15) & ~size_t{15}; }

// Sets up the block of a new descriptor.
[[gnu::always_inline]] inline TaskBlock* fill_block(Task* task, size_t shareds_at, size_t shareds_bytes,
                                                    TaskBlock::Routine routine) {
  auto* block = reinterpret_cast<TaskBlock*>(task + 1);
  block->shareds = shareds_bytes != 0 ? reinterpret_cast<char*>(block) + shareds_at : nullptr;
  block->routine = routine;
  block->part_id = 0;
  block->destructors = nullptr;  // the compiler sets it if there are any
  block->reserved = nullptr;     // priority 0, unless the compiler sets one
  return block;
}

[[gnu::always_inline]] inline TaskBlock* allocate_block(void (*invoke)(Task*), int32_t flags, size_t task_bytes,
                                                        size_t shareds_bytes, TaskBlock::Routine routine) {
  const size_t shareds_at = shareds_place(task_bytes);
  Task* task = allocate_task(this_worker(), {.invoke = invoke,
                                             .code = reinterpret_cast<const void*>(routine),
                                             .flags = task_flags(flags),
                                             .block_bytes = shareds_at + shareds_bytes,
                                             .dependences = kExpectedDependences});
  return fill_block(task, shareds_at, shareds_bytes, routine != nullptr ? routine : empty_routine);
}

// Creates a replayable task (taskgraph.cpp), whose block has been filled. Returns 0, as Clang expects it.
int32_t spawn_replayable(TaskBlock* block, DependInfo* list, int32_t count, const void* codeptr);

}  // namespace marline::kmp
