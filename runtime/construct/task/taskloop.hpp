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

// The same for undeferred tasks (`if(0)`, a final parent).
inline bool may_be_in_place(const Worker* worker, const TaskloopPlan& plan, const ChunkDepend& depend) {
  return plan.tasks > 1 && depend.call == nullptr && worker->next_task == nullptr && options().simple_creation &&
         !worker->task->has(task_flag::kSharesTable | task_flag::kInGraph);
}

// Begins undeferred chunk `first` of the loop, in a new descriptor. Null: the loop is cancelled.
[[nodiscard]] Piece* begin_in_place(Worker* worker, ChunkedLoop* loop, uint64_t first, uint64_t tasks,
                                    const void* codeptr);

// Creates the loop's tasks, as children of the current one. `priority`: from the clause.
void spawn_in_pieces(Worker* worker, ChunkedLoop* loop, uint64_t tasks, int32_t priority, const void* codeptr);

// Task::invoke of a piece. `Chunks` is a face's: Chunks(loop, block, first) prepares the block for chunk `first`, and
// run(task) runs the next chunk. Its Loop is a ChunkedLoop, whose give_up(worker) frees what the face has added.
template <class Chunks>
void run_piece(Task* task) {
  Piece* piece = piece_of(task);
  if (!task->has(task_flag::kDiscarded)) {
    begin_piece(this_worker_or_null(), piece);
    Chunks chunks(static_cast<typename Chunks::Loop*>(piece->loop), piece->block(), piece->batch_first);
    do {
      chunks.run(task);
    } while (begin_next_chunk(this_worker_or_null(), piece));
  }
  end_piece(this_worker_or_null(), piece);
}

// Runs the loop's tasks one after another, as undeferred children of the current task: in one descriptor, until one of
// them leaves something there. Frees the loop.
template <class Chunks>
void run_chunks_in_place(Worker* worker, typename Chunks::Loop* loop, uint64_t tasks, const void* codeptr) {
  for (uint64_t next = 0; next != tasks;) {
    Piece* piece = begin_in_place(worker, loop, next, tasks, codeptr);
    if (piece == nullptr) break;
    Chunks chunks(loop, piece->block(), next);
    do {
      chunks.run(piece->task);
    } while (begin_next_in_place(this_worker_or_null(), piece));
    next = piece->next;
    end_undeferred(piece->task);
    worker = this_worker();
  }
  loop->release(this_worker(), loop);
}

// What a face knows of a loop's tasks; the fields are those of ChunkedLoop.
struct LoopShape {
  const void* code;
  size_t block_bytes;
  uint32_t flags;  // bits of task_flag
};

// A loop for pieces of such tasks; `more` bytes follow it. The caller fills in what is its own.
template <class Chunks>
typename Chunks::Loop* make_chunked_loop(Worker* worker, const LoopShape& shape, size_t more) {
  using Loop = typename Chunks::Loop;
  static_assert(alignof(Loop) == kCacheLine);
  auto* loop = new (worker->pool->allocate(sizeof(Loop) + more)) Loop;
  loop->invoke = run_piece<Chunks>;
  loop->release = [](Worker* last, ChunkedLoop* gone) {
    static_cast<Loop*>(gone)->give_up(last);
    SlabPool::release(gone, last->pool);
  };
  loop->code = shape.code;
  loop->block_bytes = shape.block_bytes;
  loop->flags = shape.flags;
  return loop;
}

}  // namespace marline
