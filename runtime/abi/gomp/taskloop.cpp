// SPDX-License-Identifier: Apache-2.0
//
// taskloop, as GCC calls it: each task, or piece of tasks, gets its own copy of the argument block. The first two words
// of the copy are the task's bounds (the end excluded). With reductions, the third word leads to their description.
#include "construct/task/taskloop.hpp"

#include "abi/gomp/loop/loop.hpp"
#include "abi/gomp/task_block.hpp"
#include "construct/task/gcc_reduction.hpp"
#include "construct/task/task_reduction.hpp"
#include "exec/worker/announce.hpp"
#include "exec/worker/cancellation.hpp"

namespace marline::gomp {

namespace {

struct Loop {
  Function function;
  void* data;
  CopyFunction copy;
  size_t bytes;
  size_t align;
  unsigned flags;
  int priority;
  ChunkDepend depend;
};

TaskloopClause clause_of(unsigned flags, unsigned long value) {
  if (value == 0) return TaskloopClause::kNone;
  return flags & kGrainsize ? TaskloopClause::kGrainsize : TaskloopClause::kNumTasks;
}

void make_task(const Loop& loop, const Bounds& limits, const TaskloopPlan& plan, uint64_t i, const void* codeptr) {
  Worker* worker = depend_chunk(loop.depend, plan, i);
  if (loop.copy != nullptr && is_creation_cancelled(worker->task)) return;
  Task* task = allocate(worker, loop.function, task_flags(loop.flags), loop.bytes, loop.align, 0);
  if (loop.flags & kPriority) task->priority.store(loop.priority, relaxed);
  copy_arguments(task, loop.data, loop.bytes, loop.copy);
  auto* words = static_cast<uint64_t*>(arguments_of(task));
  words[0] = limits.start + plan.first(i) * limits.increment;
  words[1] = i + 1 == plan.tasks ? limits.end : words[0] + plan.count(i) * limits.increment;
  note_chunk(task, plan.first(i), plan.count(i));
  if (loop.flags & kIf) {
    spawn_task(worker, task, nullptr, 0, codeptr);
  } else {
    run_undeferred(worker, task, nullptr, 0, codeptr);
  }
}

// A loop whose tasks are created in pieces. The program's argument block follows it in memory; each piece has a copy.
struct PieceLoop : ChunkedLoop {
  Function function;
  Bounds limits;
  TaskloopPlan plan;

  [[nodiscard]] void* arguments() { return this + 1; }
  void give_up(Worker*) {}
};

// Runs the chunks of a piece in one copy of the argument block: GCC's functions read it only, and no two chunks of a
// piece are under way at a time.
class PieceChunks {
 public:
  using Loop = PieceLoop;

  PieceChunks(Loop* loop, void* block, uint64_t first)
      : loop_(loop),
        words_(static_cast<uint64_t*>(block)),
        chunk_(first),
        at_(loop->limits.start + loop->plan.first(first) * loop->limits.increment) {
    copy_bytes(block, loop->arguments(), loop->block_bytes);
  }

  void run(Task*) {
    const bool last = chunk_ + 1 == loop_->plan.tasks;
    words_[0] = at_;
    at_ += loop_->plan.count(chunk_) * loop_->limits.increment;
    words_[1] = last ? loop_->limits.end : at_;
    ++chunk_;
    loop_->function(words_);
  }

 private:
  Loop* loop_;
  uint64_t* words_;
  uint64_t chunk_;
  uint64_t at_;
};

// The arguments can be copied byte by byte.
bool is_plain(const Loop& loop) { return loop.copy == nullptr && loop.align <= alignof(Task); }

PieceLoop* make_piece_loop(Worker* worker, const Loop& loop, const Bounds& limits, const TaskloopPlan& plan) {
  const LoopShape shape = {code_of(loop.function), loop.bytes, task_flags(loop.flags)};
  auto* pieces = make_chunked_loop<PieceChunks>(worker, shape, loop.bytes);
  pieces->function = loop.function;
  pieces->limits = limits;
  pieces->plan = plan;
  copy_bytes(pieces->arguments(), loop.data, loop.bytes);
  return pieces;
}

void make_tasks(Worker* worker, const Loop& loop, const Bounds& limits, const TaskloopPlan& plan, const void* codeptr) {
  const bool deferred = (loop.flags & kIf) != 0 && !in_final(worker);
  if (deferred && is_plain(loop) && may_be_in_pieces(worker, plan, loop.depend)) {
    const int priority = (loop.flags & kPriority) ? loop.priority : 0;
    return spawn_in_pieces(worker, make_piece_loop(worker, loop, limits, plan), plan.tasks, priority, codeptr);
  }
  if (!deferred && is_plain(loop) && may_be_in_place(worker, plan, loop.depend)) {
    PieceLoop* pieces = make_piece_loop(worker, loop, limits, plan);
    return run_chunks_in_place<PieceChunks>(worker, pieces, plan.tasks, codeptr);
  }
  announce_work(worker, tool::Work::kTaskloop, tool::Endpoint::kBegin, limits.iterations, codeptr);
  for (uint64_t i = 0; i < plan.tasks; ++i) make_task(loop, limits, plan, i, codeptr);
  announce_work(this_worker(), tool::Work::kTaskloop, tool::Endpoint::kEnd, limits.iterations, codeptr);
}

void taskloop(const Loop& loop, const Bounds& limits, unsigned long value, const void* codeptr) {
  Worker* worker = this_worker();
  int threads = worker->member->team->size;
  TaskloopClause clause = clause_of(loop.flags, value);
  TaskloopPlan plan = taskloop_plan(limits.iterations, clause, value, loop.flags & kStrict, threads);
  bool group = !(loop.flags & kNogroup);
  if (group) taskgroup_begin(worker, codeptr);
  if (group && (loop.flags & kReduction)) {
    auto* chain = static_cast<GccReduction**>(loop.data)[2];
    gcc_reduction_allocate(chain, threads);
    gcc_reduction_attach(worker, chain);
  }
  make_tasks(this_worker(), loop, limits, plan, codeptr);
  if (group) taskgroup_end(this_worker(), codeptr);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void GOMP_taskloop(Function function, void* data, CopyFunction copy, long bytes, long align, unsigned flags,
                   unsigned long value, int priority, long start, long end, long step) {
  Loop loop{function,
            data,
            copy,
            static_cast<size_t>(bytes),
            static_cast<size_t>(align),
            flags,
            priority,
            take_chunk_depend(this_worker())};
  taskloop(loop, bounds(start, end, step), value, __builtin_return_address(0));
}

void GOMP_taskloop_ull(Function function, void* data, CopyFunction copy, long bytes, long align, unsigned flags,
                       unsigned long value, int priority, unsigned long long start, unsigned long long end,
                       unsigned long long step) {
  Loop loop{function,
            data,
            copy,
            static_cast<size_t>(bytes),
            static_cast<size_t>(align),
            flags,
            priority,
            take_chunk_depend(this_worker())};
  taskloop(loop, bounds_ull(flags & kUp, start, end, step), value, __builtin_return_address(0));
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::gomp
