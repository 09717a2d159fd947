// SPDX-License-Identifier: Apache-2.0
//
// Splits pieces of taskloops, and gives a descriptor from chunk to chunk. Run by the worker that runs the piece.
#include "exec/worker/pieces.hpp"

#include "base/clock.hpp"
#include "config/options.hpp"
#include "exec/worker/completion.hpp"
#include "graph/dependences.hpp"
#include "graph/table.hpp"
#include "sched/queue.hpp"

#include <algorithm>

namespace marline {

namespace {

// How long a batch takes, in nanoseconds. A split and what it leads to take about 60.
constexpr uint64_t kShortBatch = 1'000, kLongBatch = 4'000;
constexpr uint32_t kLargestBatch = 1u << 20;

// How many chunks a worker may run before the others can be stolen.
uint64_t batch_of(const Worker* worker, const ChunkedLoop* loop) {
  if (options().schedule.policy == SchedulePolicy::kRandom) return 1;
  // Nobody steals, and nothing is more urgent.
  if (worker->member->team->size == 1 && !priorities_in_use()) return UINT64_MAX;
  return loop->batch.load(relaxed);
}

// The serial of the chunk `ahead` chunks after the current one.
uint32_t serial_after(const Task* task, const ChunkedLoop* loop, uint64_t ahead) {
  if (loop->serials == 0) return task->serial;
  const uint64_t left = Taskgroup::kLastSerial - task->serial;
  return task->serial + static_cast<uint32_t>(std::min(ahead, left));
}

// Another piece, with the chunks from `first` on; the parent and the group count it at once.
Task* allocate_rest(Worker* worker, const Piece* piece, uint64_t first) {
  ChunkedLoop* loop = piece->loop;
  const Task* task = piece->task;
  auto* rest = static_cast<Task*>(worker->pool->allocate(sizeof(Task) + piece_bytes(loop->block_bytes)));
  rest->invoke = loop->invoke;
  rest->parent = task->parent;
  rest->team = task->team;
  rest->taskgroup = loop->group;  // the current chunk may have opened one of its own
  rest->fiber = nullptr;
  rest->flags = loop->flags;
  rest->priority.store(task->priority.load(relaxed), relaxed);
  rest->children.store(0, relaxed);
  rest->created = 0;
  rest->table = nullptr;
  rest->icvs = loop->icvs;
  rest->references.store(1, relaxed);
  rest->serial = serial_after(task, loop, first + 1 - piece->next);
  make_piece(rest, loop, first, piece->end);
  return rest;
}

// Queues the piece's chunks from `first` on.
void split_off(Worker* worker, Piece* piece, uint64_t first) {
  ChunkedLoop* loop = piece->loop;
  Task* rest = allocate_rest(worker, piece, first);
  piece->end = first;
  // relaxed: the caller's own piece is counted in all three until it has ended.
  loop->pieces.fetch_add(1, relaxed);
  rest->parent->children.fetch_add(children_word::kLeaf, relaxed);
  if (loop->group != nullptr) loop->group->count.fetch_add(Taskgroup::kOne, relaxed);
  enqueue(worker, rest);
}

// A batch of that many chunks took that time.
void learn(ChunkedLoop* loop, uint64_t chunks, uint64_t ticks) {
  const uint32_t batch = loop->batch.load(relaxed);
  if (ticks < cycles_about(kShortBatch)) {
    if (chunks * 2 > batch && batch < kLargestBatch) loop->batch.store(batch * 2, relaxed);
  } else if (ticks > cycles_about(kLongBatch) && batch > 1) {
    loop->batch.store(std::max(batch / 2, 1u), relaxed);
  }
}

// Takes away what the chunk has left in its descriptor. False: something still needs it.
bool take_back(Worker* worker, const ChunkedLoop* loop, Task* task) {
  if (worker->reports.parent == task) flush_reports(worker);
  if ((task->flags & ~task_flag::kPinned) != loop->flags || !subtree_has_ended(task)) return false;
  if (task->table != nullptr) drop_table(worker, task);
  task->created = 0;
  task->children.store(0, relaxed);
  if (task->flags != loop->flags) {  // it has been pinned
    if (!task->has(task_flag::kTied)) --worker->fiber->tied_frames;
    task->flags = loop->flags;
  }
  return true;
}

}  // namespace

void make_piece(Task* task, ChunkedLoop* loop, uint64_t first, uint64_t end) {
  auto* after_block = reinterpret_cast<char*>(task + 1) + piece_bytes(loop->block_bytes) - sizeof(Piece);
  auto* piece = reinterpret_cast<Piece*>(after_block);
  *piece = {.code = loop->code, .loop = loop, .task = task, .next = first, .end = end, .below = nullptr};
  task->block = piece;
}

void begin_piece(Worker* worker, Piece* piece) {
  const uint64_t batch = batch_of(worker, piece->loop);
  piece->batch_first = piece->next++;
  for (uint64_t count = piece->end - piece->batch_first; count > batch;) {
    const uint64_t half = count / 2;
    split_off(worker, piece, piece->end - half);
    count -= half;
  }
  piece->below = worker->fiber->pieces;
  worker->fiber->pieces = piece;
  if (batch != UINT64_MAX) piece->batch_began = cycles();
}

void end_piece(Worker* worker, Piece* piece) {
  ChunkedLoop* loop = piece->loop;
  Fiber* fiber = worker->fiber;
  if (fiber->pieces == piece) {  // the fiber has not been left
    fiber->pieces = piece->below;
    if (piece->batch_began != 0) learn(loop, piece->end - piece->batch_first, cycles() - piece->batch_began);
  }
  // acq_rel: the last piece frees the loop after all others have used it.
  if (loop->pieces.fetch_sub(1, acq_rel) == 1) loop->release(worker, loop);
}

void leave_pieces(Worker* worker) {
  Fiber* fiber = worker->fiber;
  for (Piece* piece = fiber->pieces; piece != nullptr; piece = piece->below) {
    if (piece->next != piece->end) split_off(worker, piece, piece->next);
  }
  fiber->pieces = nullptr;
}

bool begin_next_in_place_slowly(Worker* worker, Piece* piece) {
  progress_at_scheduling_point(worker);
  if (!take_back(worker, piece->loop, piece->task)) return false;
  take_serial(piece->task, piece->loop);
  if (is_cancelled(piece->task)) return false;  // the next chunk, by its serial
  ++piece->next;
  return true;
}

bool begin_next_chunk_slowly(Worker* worker, Piece* piece) {
  Task* task = piece->task;
  progress_at_scheduling_point(worker);
  if (!take_back(worker, piece->loop, task)) {
    split_off(worker, piece, piece->next);
    return false;
  }
  advance_serial(task, piece->loop);
  if (is_cancelled(task)) {  // then so are those after it
    piece->end = piece->next;
    return false;
  }
  ++piece->next;
  return true;
}

}  // namespace marline
