// SPDX-License-Identifier: Apache-2.0
//
// Divides a taskloop's iterations into tasks (OpenMP 5.2, section 12.6), and sets the dependences of these tasks. The
// tasks of most loops are created in pieces (exec/worker/pieces.hpp). Where a task needs more than that, the faces make
// the tasks one by one, in the thread that encounters the loop.
#pragma once

#include "config/options.hpp"
#include "construct/task/task.hpp"
#include "exec/worker/pieces.hpp"
#include "sched/team.hpp"

#include <cstdint>

namespace marline {

enum class TaskloopClause : int32_t { kNone = 0, kGrainsize = 1, kNumTasks = 2 };

// Task i has `size` iterations, the first `longer` tasks have one more; with a strict grain the last task has the rest.
struct TaskloopPlan {
  uint64_t iterations;
  uint64_t tasks;
  uint64_t size;
  uint64_t longer;

  [[nodiscard]] uint64_t first(uint64_t i) const { return i * size + (i < longer ? i : longer); }
  [[nodiscard]] uint64_t count(uint64_t i) const {
    return i + 1 == tasks ? iterations - first(i) : size + (i < longer ? 1 : 0);
  }
};

// The argument of marline_taskloop_depend for the taskloop that the current task encounters; each value is returned
// once.
ChunkDepend take_chunk_depend(Worker* worker);

// Called before the face makes the plan's task i: sets the dependences of the next task. Returns the thread's worker.
inline Worker* depend_chunk(const ChunkDepend& depend, const TaskloopPlan& plan, uint64_t i) {
  if (depend.call != nullptr) depend.call(plan.first(i), plan.count(i), depend.argument);
  return this_worker();
}

// `value` is from the clause; without a clause, `threads` decides.
TaskloopPlan taskloop_plan(uint64_t iterations, TaskloopClause clause, uint64_t value, bool strict, int threads);

// Whether the deferred tasks of a loop can be created in pieces: nothing has been set for them but what all of them
// share. With MARLINE_SCHEDULE=fifo the order of the tasks is that of their creation.
inline bool may_be_in_pieces(const Worker* worker, const TaskloopPlan& plan, const ChunkDepend& depend) {
  return plan.tasks > 1 && depend.call == nullptr && is_simple(worker) &&
         options().schedule.policy != SchedulePolicy::kFifo;
}

// Memory for a loop; `more` bytes follow it. The caller fills in what is its own, and `invoke`, `release`, `code`,
// `flags` (bits of task_flag) and `block_bytes`.
template <class Loop>
Loop* make_chunked_loop(Worker* worker, size_t more) {
  static_assert(alignof(Loop) == kCacheLine);
  return new (worker->pool->allocate(sizeof(Loop) + more)) Loop;
}

// Creates the loop's tasks, as children of the current one. `priority`: from the clause.
void spawn_in_pieces(Worker* worker, ChunkedLoop* loop, uint64_t tasks, int32_t priority, const void* codeptr);

// Task::invoke of a piece. `Chunks` is a face's: Chunks(loop, block, first) prepares the block for chunk `first`, and
// run(task) runs the next chunk.
template <class Chunks>
void run_piece(Task* task) {
  Piece* piece = piece_of(task);
  if (!task->has(task_flag::kDiscarded)) {
    begin_piece(this_worker_or_null(), piece);
    Chunks chunks(static_cast<typename Chunks::Loop*>(piece->loop), piece->block(), piece->first);
    do {
      chunks.run(task);
    } while (begin_next_chunk(this_worker_or_null(), piece));
  }
  end_piece(this_worker_or_null(), piece);
}

}  // namespace marline
