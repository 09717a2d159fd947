// SPDX-License-Identifier: Apache-2.0
//
// The shared part of one worksharing construct (a dynamic loop, sections, a scope with task reductions), and one
// thread's place in a loop. A team numbers its constructs, from kWorkshares on and from region to region
// (Team::first_workshare). The shared parts of kWorkshares constructs are a block. The thread that comes first to a
// block's first construct links it to the block before. A thread has passed a block when it enters a construct of the
// next one, and uses nothing of the block any more; the last thread to pass it gives it back
// (exec/team/workshare_blocks.cpp). So with `nowait` a thread may be ahead of the others by any number of constructs.
//
// Invariant: the first thread that comes to construct number k writes k to `claimed`. It fills the fields and publishes
// k in `ready` (construct/workshare/workshare.cpp). Numbers of earlier uses are smaller.
#pragma once

#include "base/atomic.hpp"
#include "tool/tool.hpp"

#include <cstddef>
#include <cstdint>

namespace marline {

// A block takes 128 bytes for each of its constructs, and 8 bytes for each construct and thread (its reserves). A team
// has as many blocks as its threads were apart at a time, and keeps at most 16 that are not in use.
inline constexpr int kWorkshares = 64;

// kGuidedSimd and kRuntimeSimd: the size of each chunk but the last is a multiple of the given chunk size. kAnyOrder:
// dynamic and nonmonotonic; a loop that is entered has kDynamic in its place.
enum class LoopKind : int32_t { kStatic, kDynamic, kAnyOrder, kGuided, kRuntime, kGuidedSimd, kRuntimeSimd };

// How the threads take the chunks of a loop from Workshare::next. kByAddition: each adds the size of a chunk. kByCount:
// `next` counts chunks, of a guided loop. kIntoReserve: the same, and the threads have reserves
// (construct/workshare/reserve.hpp). kStepwise: as loop_next does, which may have to wait, to report the chunk to a
// tool or to choose at random before it takes one.
enum class ChunkTaking : uint8_t { kStepwise, kByAddition, kByCount, kIntoReserve };

struct alignas(kCacheLine) Workshare {
  Atomic<uint64_t> claimed{0};
  Atomic<uint64_t> ready{0};
  Atomic<int32_t> left{0};  // of a construct with `memory`: threads that have left it
  // For loops: iterations are counted from 0, the face maps them to the program's bounds. Written by the claimer, then
  // read-only.
  LoopKind kind = LoopKind::kStatic;
  uint64_t iterations = 0;
  uint64_t chunk = 0;
  void* reductions = nullptr;  // the first thread's block of a GCC reduction (construct/task/gcc_reduction.hpp)
  void* memory = nullptr;      // zeroed, shared by the team during the construct; freed by the last thread to leave
  ChunkTaking taking = ChunkTaking::kStepwise;
  // Set before a chunk goes into a reserve.
  Atomic<bool> has_reserves{false};
  // One thread has had all iterations: nothing is left for a thread that comes later, and reads this cache line only.
  // Threads that share the iterations do not say when they are through: each would take the line from the others.
  // Orders nothing.
  Atomic<bool> all_taken{false};
  // The first iteration that no thread has taken; of a guided loop, and of one with reserves, how many chunks are
  // taken.
  alignas(kCacheLine) Atomic<uint64_t> next{0};
  // The first iteration of the chunk that has the turn for its `ordered` regions.
  Atomic<uint64_t> ordered_next{0};
};

struct WorkshareBlock {
  WorkshareBlock* next = nullptr;  // under Team::blocks.lock, as `passed`
  int passed = 0;                  // threads that have entered a construct of a later block
  Workshare shares[kWorkshares];
  // Chunks that threads have taken and not begun, by thread and construct (construct/workshare/reserve.hpp).
  Atomic<uint64_t>* reserves = nullptr;

  Atomic<uint64_t>& reserve(int thread, const Workshare* shared) {
    return reserves[static_cast<size_t>(thread) * kWorkshares + static_cast<size_t>(shared - shares)];
  }
};

// The state of one thread in the loop (or sections) that it is in. Its own.
struct LoopPlace {
  Workshare* shared = nullptr;  // null: a static loop without shared data
  LoopKind kind = LoopKind::kStatic;
  bool ordered = false;
  bool plain = false;  // chunks are all that the threads of the loop share
  // The kind of construct that was reported to a tool at the beginning.
  tool::Work announced = tool::Work::kNone;
  // shared->next, if one addition is enough to take a chunk; otherwise null.
  Atomic<uint64_t>* adds_to = nullptr;
  // shared->next of a guided loop, if nothing but its count is needed to take a chunk; otherwise null.
  Atomic<uint64_t>* counts_in = nullptr;
  // The thread's reserve of chunks in a loop that has them (construct/workshare/reserve.hpp); otherwise null.
  Atomic<uint64_t>* reserve = nullptr;
  uint64_t iterations = 0;
  uint64_t had = 0;  // of a plain loop: iterations that the thread has had
  uint64_t chunk = 0;
  uint64_t position = 0;  // static: first iteration of the thread's next chunk; guided: of chunk number `passed`
  uint64_t step = 0;      // static: distance between two chunks of the thread
  uint64_t passed = 0;    // guided: chunks that the thread has passed
  uint64_t shares = 0;    // guided: a chunk is the remaining iterations over `shares`
  // With a reserve: how many chunks the loop has; where the thread last took some, how many, and when (cycles()).
  uint64_t chunks = 0, taken_to = 0, taken_at = 0;
  uint32_t at_a_time = 1;
  // Numbers of chunks that the thread alone can run. They are all of the same size: the loop's last one is not counted,
  // owns_last says that it is the thread's, too.
  uint32_t own_next = 0, own_end = 0;
  bool owns_last = false;
  bool had_last = false;  // the thread has had the loop's last chunk
  uint64_t own_step = 0;  // from one such chunk to the next, in the program's bounds; kept by the face
  uint64_t first = 0;     // the current chunk: [first, end)
  uint64_t end = 0;
  uint64_t lower = 0, upper = 0, stride = 0;  // the program's bounds, as the face keeps them
  const void* codeptr = nullptr;              // return address into the program where it entered the loop, for tools
};

}  // namespace marline
