// SPDX-License-Identifier: Apache-2.0
//
// Plans a taskloop, and takes the dependences that the program has set for it.
#include "construct/task/taskloop.hpp"

#include "base/check.hpp"
#include "construct/task/next_task.hpp"

#include <algorithm>

namespace marline {

namespace {

// Enough tasks for a thief to find some, and few enough that making them costs little.
constexpr uint64_t kTasksPerThread = 10;

TaskloopPlan even(uint64_t iterations, uint64_t tasks) {
  tasks = std::clamp<uint64_t>(tasks, 1, iterations);
  return {iterations, tasks, iterations / tasks, iterations % tasks};
}

}  // namespace

ChunkDepend take_chunk_depend(Worker* worker) {
  if (worker->next_task != nullptr && next_dependences(worker) != 0) {
    fatal("marline_task_depend was called before a taskloop: use marline_taskloop_depend");
  }
  ChunkDepend depend = worker->pushed.chunk_depend;
  worker->pushed.chunk_depend = {};
  if (depend.call != nullptr && depend.owner != worker->task) {
    fatal(
        "a task called marline_taskloop_depend, then did not reach a taskloop before it suspended, waited or ended: "
        "call it right before the taskloop construct");
  }
  return depend;
}

TaskloopPlan taskloop_plan(uint64_t iterations, TaskloopClause clause, uint64_t value, bool strict, int threads) {
  if (iterations == 0) return {0, 0, 0, 0};
  value = std::max<uint64_t>(value, 1);
  switch (clause) {
    case TaskloopClause::kNumTasks: return even(iterations, value);
    case TaskloopClause::kGrainsize:
      if (strict) return {iterations, (iterations - 1) / value + 1, value, 0};
      return even(iterations, iterations / value);  // each task has at least the grain and less than twice the grain
    case TaskloopClause::kNone: break;
  }
  return even(iterations, kTasksPerThread * static_cast<uint64_t>(threads));
}

namespace {

// Takes over what the loop's tasks have in common with the first one.
void take_common(ChunkedLoop* loop, const Task* creator, const Task* task) {
  Taskgroup* group = creator->taskgroup;
  loop->group = group;
  loop->icvs = task->icvs;
  loop->flags = task->flags;
  loop->serials = group != nullptr && group->owner == creator ? 1 : 0;
}

Task* allocate_piece(Worker* worker, const ChunkedLoop* loop, uint32_t flags) {
  return allocate_simple(
      worker,
      {.invoke = loop->invoke, .code = loop->code, .flags = flags, .block_bytes = piece_bytes(loop->block_bytes)});
}

}  // namespace

void spawn_in_pieces(Worker* worker, ChunkedLoop* loop, uint64_t tasks, int32_t priority, const void* codeptr) {
  const Task* creator = worker->task;
  // With kDestroys a cancelled piece is invoked, too, and gives up the loop.
  Task* task = allocate_piece(worker, loop, loop->flags | task_flag::kDestroys);
  task->priority.store(priority, relaxed);
  take_common(loop, creator, task);
  make_piece(task, loop, 0, tasks);
  Taskgroup* order = loop->serials != 0 ? loop->group->order : nullptr;
  spawn_task(worker, task, nullptr, 0, codeptr);
  if (order != nullptr) skip_serials(order, tasks - 1);  // the first one is counted already
}

Piece* begin_in_place(Worker* worker, ChunkedLoop* loop, uint64_t first, uint64_t tasks, const void* codeptr) {
  const Task* creator = worker->task;
  Task* task = allocate_piece(worker, loop, loop->flags | task_flag::kUndeferred);
  take_common(loop, creator, task);
  make_piece(task, loop, first, tasks);
  if (!try_begin_undeferred(worker, task, codeptr)) return nullptr;
  Piece* piece = piece_of(task);
  ++piece->next;
  return piece;
}

}  // namespace marline
