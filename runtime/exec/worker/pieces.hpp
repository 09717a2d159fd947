// SPDX-License-Identifier: Apache-2.0
//
// The tasks of a taskloop, its chunks, in pieces. A piece is a descriptor for several chunks in a row. The worker that
// takes a piece runs them one after another in this descriptor: each chunk is a task like any other, and when it has
// ended without a trace, the descriptor is the next chunk's. A piece is one child of the loop's task, and one member of
// its taskgroup, whatever the number of its chunks.
//
// Pieces are split in two ways.
// - Before a worker runs the chunks of a piece, it splits off halves and queues them for thieves, until the rest is a
//   batch: chunks that together take about a microsecond (ChunkedLoop::batch). So a thief gets half of what is left,
//   and where chunks are long, each is a batch. Only the batch in which they become long is kept until its end.
// - Chunks of a batch that have not begun must not wait for a chunk that waits. Before the fiber is left, and where a
//   frame on it waits in place for long, leave_pieces queues them. So it is when a chunk ends and has living children,
//   or anything else that needs its descriptor.
//
// Invariant: a piece exists only while its chunks are counted in the loop's task by the piece itself, so a worker that
// runs it may add a piece to these counts: they are not zero, and nobody acts on them.
//
// Only without a tool, where Options::simple_creation is true. Any worker of the team.
#pragma once

#include "exec/fiber/fiber.hpp"
#include "exec/worker/cancellation.hpp"
#include "sched/progress.hpp"
#include "sched/team.hpp"

namespace marline {

// What the pieces of a taskloop share. A face adds what it needs to run a chunk (construct/task/taskloop.hpp).
struct ChunkedLoop {
  // Set before the first piece is spawned.
  void (*invoke)(Task*);                   // of the pieces
  void (*release)(Worker*, ChunkedLoop*);  // frees the loop
  const void* code;                        // the compiler's function for the body
  size_t block_bytes;                      // of the face's block in each piece
  Taskgroup* group;                        // the chunks' own
  Icvs* icvs;
  uint32_t flags;
  uint32_t serials;  // 1: each chunk has a serial of its own (exec/worker/cancellation.hpp); 0: all have the parent's
  // Pieces that have not ended, and a guess at how many chunks take a microsecond. Any thread that runs a piece.
  alignas(kCacheLine) Atomic<int32_t> pieces{1};
  Atomic<uint32_t> batch{1};
};

// Task::block of a piece's descriptor leads here. Before it lies the face's block, right after the descriptor.
struct Piece {
  const void* code;  // for `marline ps`
  ChunkedLoop* loop;
  Task* task;
  uint64_t next, end;  // the chunks that have not begun; only the worker that runs the piece
  Piece* below;        // link of Fiber::pieces
  // The batch: when it began, in cycles(), and its first chunk. Only where batches are measured.
  uint64_t batch_began = 0;
  uint64_t batch_first = 0;

  [[nodiscard]] void* block() const { return task + 1; }
};

inline Piece* piece_of(Task* task) { return static_cast<Piece*>(task->block); }

// The size of what follows a piece's descriptor.
inline size_t piece_bytes(size_t block_bytes) { return (block_bytes + 15) / 16 * 16 + sizeof(Piece); }

// Sets up the piece in a new descriptor.
void make_piece(Task* task, ChunkedLoop* loop, uint64_t first, uint64_t end);

// Splits the piece, and begins its first chunk.
void begin_piece(Worker* worker, Piece* piece);
// No chunk of the piece is left.
void end_piece(Worker* worker, Piece* piece);

// Queues the chunks that have not begun of all pieces on the worker's fiber.
[[gnu::noinline]] void leave_pieces(Worker* worker);

// The same if there are any.
inline void leave_pieces_of(Worker* worker) {
  if (worker->fiber->pieces != nullptr) [[unlikely]] {
    leave_pieces(worker);
  }
}

// The descriptor does not look as before its chunk. Makes it the next one's if it can: else queues the rest of the
// piece, and the chunk ends with the piece. False: the piece ends.
[[gnu::noinline]] bool begin_next_chunk_slowly(Worker* worker, Piece* piece);

// The same for undeferred chunks (construct/task/taskloop.hpp). False: the piece ends, perhaps before its last chunk;
// the caller goes on with another piece.
[[gnu::noinline]] bool begin_next_in_place_slowly(Worker* worker, Piece* piece);

inline void advance_serial(Task* task, const ChunkedLoop* loop) {
  if (task->serial != Taskgroup::kLastSerial) task->serial += loop->serials;
}

// Whether the chunk has left nothing in its descriptor, and there is nothing else to do between two chunks.
[[gnu::always_inline]] inline bool is_as_before(const Task* task, const ChunkedLoop* loop) {
  // acquire: as in has_no_children (exec/worker/completion.hpp).
  const uint64_t children = task->created | task->children.load(acquire);
  const uint64_t changed = task->flags ^ loop->flags;
  return (children | changed | reinterpret_cast<uintptr_t>(task->table)) == 0 && !progress_pending() &&
         !any_cancellation();
}

// A chunk has ended. True: the next one has begun, in the same descriptor. False: the piece ends.
[[gnu::always_inline]] inline bool begin_next_chunk(Worker* worker, Piece* piece) {
  if (piece->next == piece->end) return false;
  Task* task = piece->task;
  if (!is_as_before(task, piece->loop)) [[unlikely]] {
    return begin_next_chunk_slowly(worker, piece);
  }
  advance_serial(task, piece->loop);
  ++piece->next;
  return true;
}

// An undeferred chunk has the next serial of its group.
inline void take_serial(Task* task, const ChunkedLoop* loop) {
  if (loop->serials != 0) task->serial = next_serial(loop->group->order);
}

[[gnu::always_inline]] inline bool begin_next_in_place(Worker* worker, Piece* piece) {
  if (piece->next == piece->end) return false;
  Task* task = piece->task;
  if (!is_as_before(task, piece->loop)) [[unlikely]] {
    return begin_next_in_place_slowly(worker, piece);
  }
  take_serial(task, piece->loop);
  ++piece->next;
  return true;
}

}  // namespace marline
