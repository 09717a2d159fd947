// SPDX-License-Identifier: Apache-2.0
//
// taskloop, as Clang calls it: one pattern task is copied for each task; its block holds the loop's bounds. The
// compiler's `duplicate` function, if there is one, copies firstprivates and marks the last task as the last. Loops
// without such a function are created in pieces (exec/worker/pieces.hpp).
#include "construct/task/taskloop.hpp"

#include "abi/kmp/loop/schedule.hpp"
#include "abi/kmp/task/task_block.hpp"
#include "construct/task/task.hpp"
#include "exec/worker/announce.hpp"
#include "exec/worker/frames.hpp"
#include "graph/descriptor.hpp"
#include "sched/pool_tasks.hpp"

#include <cstring>

namespace marline::kmp {

namespace {

using Duplicate = void (*)(TaskBlock* to, TaskBlock* from, int32_t last);

struct Pattern {
  TaskBlock* block;
  ptrdiff_t lower_at, upper_at;  // where in the block the bounds are
  uint64_t lower;
  uint64_t stride;
  Duplicate duplicate;
  bool deferred;
  ChunkDepend depend;
};

uint64_t& word_at(TaskBlock* block, ptrdiff_t offset) {
  return *reinterpret_cast<uint64_t*>(reinterpret_cast<char*>(block) + offset);
}

// The block is the rest of the descriptor's slab block: at least as many bytes as the compiler asked for.
size_t block_bytes(const Task* task) { return SlabPool::usable_bytes(task) - sizeof(Task); }

// A task has the loop's name, unless it was given its own.
void copy_name(Task* task, const Task* model) {
  if (!model->has(task_flag::kLabelled) || task->has(task_flag::kLabelled)) return;
  task->label = model->label;
  task->look = model->look;
  task->flags |= task_flag::kLabelled;
}

// Shared pointers lie inside the block.
void move_shareds(TaskBlock* to, const TaskBlock* from) {
  if (to->shareds == nullptr) return;
  const ptrdiff_t at = static_cast<const char*>(from->shareds) - reinterpret_cast<const char*>(from);
  to->shareds = reinterpret_cast<char*>(to) + at;
}

TaskBlock* copy_pattern(Worker* worker, const Pattern& pattern, bool last) {
  Task* model = task_of(pattern.block);
  size_t bytes = block_bytes(model);
  auto code = reinterpret_cast<const void*>(pattern.block->routine);
  uint32_t flags = model->flags & ~task_flag::kLabelled;
  Task* task = allocate_task(worker, {.invoke = model->invoke, .code = code, .flags = flags, .block_bytes = bytes});
  copy_name(task, model);
  auto* block = static_cast<TaskBlock*>(task->block);
  std::memcpy(block, pattern.block, bytes);
  move_shareds(block, pattern.block);
  if (pattern.duplicate != nullptr) pattern.duplicate(block, pattern.block, last);
  return block;
}

void make_task(const Pattern& pattern, const TaskloopPlan& plan, uint64_t i, const void* codeptr) {
  Worker* worker = depend_chunk(pattern.depend, plan, i);
  bool last = i + 1 == plan.tasks;
  bool reuse = last && pattern.duplicate == nullptr;  // the pattern is not needed any more
  TaskBlock* block = reuse ? pattern.block : copy_pattern(worker, pattern, last);
  word_at(block, pattern.lower_at) = pattern.lower + plan.first(i) * pattern.stride;
  word_at(block, pattern.upper_at) = pattern.lower + (plan.first(i) + plan.count(i) - 1) * pattern.stride;
  Task* task = task_of(block);
  task->priority.store(block->priority, relaxed);
  note_chunk(task, plan.first(i), plan.count(i));
  if (is_transparent(task)) [[unlikely]] {
    auto* create = pattern.deferred ? spawn_transparent_chunk : run_transparent_chunk;
    return create(worker, task, codeptr);
  }
  if (pattern.deferred) {
    spawn_task(worker, task, nullptr, 0, codeptr);
  } else {
    run_undeferred(worker, task, nullptr, 0, codeptr);
  }
}

void discard(TaskBlock* block) {
  if (block->destructors != nullptr) block->destructors(this_worker()->id, block);
  release_task(this_worker(), task_of(block));
}

// A loop whose tasks are created in pieces. The pattern's block stays as it is, to be copied for each chunk: the
// program's code changes its private variables, which lie in the block.
struct PieceLoop : ChunkedLoop {
  Pattern pattern;
  TaskloopPlan plan;

  void give_up(Worker* worker) { release_task(worker, task_of(pattern.block)); }
};

// Clang's block for a taskloop goes on with the bounds, the stride, a mark of the last task and a pointer to
// reductions.
constexpr size_t kLeastBlock = sizeof(TaskBlock) + 5 * sizeof(uint64_t);

// The bytes of the block that a compiler has asked for: the room for edges comes after them.
size_t exact_block_bytes(const Task* model) {
  return static_cast<size_t>(reinterpret_cast<const char*>(model->edges) - reinterpret_cast<const char*>(model + 1));
}

class PieceChunks {
 public:
  using Loop = PieceLoop;

  PieceChunks(Loop* loop, void* block, uint64_t first)
      : loop_(loop),
        block_(static_cast<TaskBlock*>(block)),
        chunk_(first),
        lower_(loop->pattern.lower + loop->plan.first(first) * loop->pattern.stride) {}

  void run(Task* task) {
    const Pattern& pattern = loop_->pattern;
    copy_block();
    const uint64_t next = lower_ + loop_->plan.count(chunk_) * pattern.stride;
    word_at(block_, pattern.lower_at) = lower_;
    word_at(block_, pattern.upper_at) = next - pattern.stride;
    lower_ = next;
    ++chunk_;
    run_parts(task, block_);
  }

 private:
  void copy_block() {
    const TaskBlock* from = loop_->pattern.block;
    std::memcpy(block_, from, kLeastBlock);
    if (const size_t bytes = loop_->block_bytes; bytes > kLeastBlock) [[unlikely]] {
      std::memcpy(reinterpret_cast<char*>(block_) + kLeastBlock, reinterpret_cast<const char*>(from) + kLeastBlock,
                  bytes - kLeastBlock);
    }
    move_shareds(block_, from);
  }

  Loop* loop_;
  TaskBlock* block_;
  uint64_t chunk_;
  uint64_t lower_;
};

PieceLoop* make_piece_loop(Worker* worker, const Pattern& pattern, const TaskloopPlan& plan) {
  const Task* model = task_of(pattern.block);
  const LoopShape shape = {reinterpret_cast<const void*>(pattern.block->routine), exact_block_bytes(model),
                           model->flags};
  auto* pieces = make_chunked_loop<PieceChunks>(worker, shape, 0);
  pieces->pattern = pattern;
  pieces->plan = plan;
  return pieces;
}

// Tasks of the plain kind, without functions that copy or destroy their private variables.
bool is_plain(const Pattern& pattern) {
  constexpr uint32_t kPlain = task_flag::kTied | task_flag::kFinal;
  const Task* model = task_of(pattern.block);
  return pattern.duplicate == nullptr && model->invoke == run_task && exact_block_bytes(model) >= kLeastBlock &&
         (model->flags & ~kPlain) == 0;
}

// False: the tasks are to be made one by one.
bool make_together(Worker* worker, const Pattern& pattern, const TaskloopPlan& plan, const void* codeptr) {
  if (!is_plain(pattern)) return false;
  if (pattern.deferred && may_be_in_pieces(worker, plan, pattern.depend)) {
    spawn_in_pieces(worker, make_piece_loop(worker, pattern, plan), plan.tasks, pattern.block->priority, codeptr);
    return true;
  }
  if (!pattern.deferred && may_be_in_place(worker, plan, pattern.depend)) {
    run_chunks_in_place<PieceChunks>(worker, make_piece_loop(worker, pattern, plan), plan.tasks, codeptr);
    return true;
  }
  return false;
}

void taskloop(const Pattern& pattern, const TaskloopPlan& plan, bool group, const void* codeptr) {
  if (group) taskgroup_begin(this_worker(), codeptr);
  if (make_together(this_worker(), pattern, plan, codeptr)) {
    if (group) taskgroup_end(this_worker(), codeptr);
    return;
  }
  announce_work(this_worker(), tool::Work::kTaskloop, tool::Endpoint::kBegin, plan.iterations, codeptr);
  for (uint64_t i = 0; i < plan.tasks; ++i) make_task(pattern, plan, i, codeptr);
  announce_work(this_worker(), tool::Work::kTaskloop, tool::Endpoint::kEnd, plan.iterations, codeptr);
  if (plan.tasks == 0 || pattern.duplicate != nullptr) discard(pattern.block);
  if (group) taskgroup_end(this_worker(), codeptr);
}

// The compiler's bounds lie in the block.
void taskloop_of(TaskBlock* block, bool if_clause, uint64_t* lower, uint64_t* upper, int64_t stride, bool group,
                 TaskloopClause clause, uint64_t value, bool strict, Duplicate duplicate,
                 const void* codeptr = __builtin_return_address(0)) {
  auto from = static_cast<int64_t>(*lower);
  auto to = static_cast<int64_t>(*upper);
  bool empty = stride > 0 ? to < from : from < to;
  Worker* worker = this_worker();
  uint64_t trips = empty ? 0 : trip_count(from, to, stride);
  TaskloopPlan plan = taskloop_plan(trips, clause, value, strict, worker->member->team->size);
  auto offset = [block](uint64_t* at) { return reinterpret_cast<char*>(at) - reinterpret_cast<char*>(block); };
  Pattern pattern{block,
                  offset(lower),
                  offset(upper),
                  *lower,
                  static_cast<uint64_t>(stride),
                  duplicate,
                  if_clause && !in_final(worker),
                  take_chunk_depend(worker)};
  taskloop(pattern, plan, group, codeptr);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void __kmpc_taskloop_5(Ident*, int32_t, TaskBlock* block, int32_t if_clause, uint64_t* lower, uint64_t* upper,
                       int64_t stride, int32_t nogroup, int32_t clause, uint64_t value, int32_t strict,
                       Duplicate duplicate) {
  taskloop_of(block, if_clause != 0, lower, upper, stride, nogroup == 0, static_cast<TaskloopClause>(clause), value,
              strict != 0, duplicate);
}

void __kmpc_taskloop(Ident*, int32_t, TaskBlock* block, int32_t if_clause, uint64_t* lower, uint64_t* upper,
                     int64_t stride, int32_t nogroup, int32_t clause, uint64_t value, Duplicate duplicate) {
  taskloop_of(block, if_clause != 0, lower, upper, stride, nogroup == 0, static_cast<TaskloopClause>(clause), value,
              false, duplicate);
}

// A replayable taskloop (taskgraph.cpp). Clang calls __kmpc_taskgroup and __kmpc_end_taskgroup around it unless it has
// a nogroup clause, which the argument tells. The last argument is a function that moves the data of recorded tasks; it
// is not needed here.
int32_t __kmpc_taskgraph_taskloop(Ident*, int32_t, TaskBlock* block, int32_t, size_t, int32_t if_clause,
                                  uint64_t* lower, uint64_t* upper, int64_t stride, int32_t, int32_t clause,
                                  uint64_t value, int32_t strict, Duplicate duplicate, void*) {
  taskloop_of(block, if_clause != 0, lower, upper, stride, false, static_cast<TaskloopClause>(clause), value,
              strict != 0, duplicate, __builtin_return_address(0));
  return 0;
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::kmp
