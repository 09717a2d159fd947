// SPDX-License-Identifier: Apache-2.0
//
// The shared part of one worksharing construct (a dynamic loop, sections, a scope with task reductions), and one
// thread's place in a loop. A Team holds a ring of shared parts: its threads may be up to kWorkshares constructs apart
// (nowait). Construct number k of a team uses slot k % kWorkshares, as the slot's use number u = k / kWorkshares;
// numbers continue from region to region (Team::first_workshare).
//
// Invariant: `phase` is 2u while the slot is free for use u. It is 2u + 1 from the time when the first thread to arrive
// claims the slot until the last thread of the team has left. The claimer fills the fields and publishes k + 1 in
// `ready` (construct/workshare/workshare.cpp).
#pragma once

#include "base/atomic.hpp"
#include "tool/tool.hpp"

#include <cstdint>

namespace marline {

// A thread that is further ahead waits for the slowest thread. Where threads share cores, the slowest one may first
// have to wait for a core: the larger the ring, the fewer of these waits. Each slot takes 192 bytes of a team, and 8
// bytes of each member (Member::reserves).
inline constexpr int kWorkshares = 64;

// kGuidedSimd and kRuntimeSimd: the size of each chunk but the last is a multiple of the given chunk size. kAnyOrder:
// dynamic and nonmonotonic; a loop that is entered has kDynamic in its place.
enum class LoopKind : int32_t { kStatic, kDynamic, kAnyOrder, kGuided, kRuntime, kGuidedSimd, kRuntimeSimd };

// How the threads take the chunks of a loop from Workshare::next: each looks and exchanges; each adds, which is
// shorter; or they have reserves (construct/workshare/reserve.hpp), and `next` counts chunks.
enum class ChunkTaking : uint8_t { kByExchange, kByAddition, kIntoReserve };

struct alignas(kCacheLine) Workshare {
  Atomic<uint64_t> phase{0};
  Atomic<uint64_t> ready{0};
  Atomic<int32_t> left{0};  // threads that have left this use
  // For loops: iterations are counted from 0, the face maps them to the program's bounds. Written by the claimer, then
  // read-only.
  LoopKind kind = LoopKind::kStatic;
  uint64_t iterations = 0;
  uint64_t chunk = 0;
  void* reductions = nullptr;  // the first thread's block of a GCC reduction (construct/task/gcc_reduction.hpp)
  void* memory = nullptr;      // zeroed, shared by the team during the construct; freed by the last thread to leave
  ChunkTaking taking = ChunkTaking::kByExchange;
  // Set before a chunk goes into a reserve.
  Atomic<bool> has_reserves{false};
  // The first iteration that no thread has taken; of a guided loop, and of one with reserves, how many chunks are
  // taken.
  alignas(kCacheLine) Atomic<uint64_t> next{0};
  // The first iteration of the chunk that has the turn for its `ordered` regions.
  alignas(kCacheLine) Atomic<uint64_t> ordered_next{0};
};

// The state of one thread in the loop (or sections) that it is in. Its own.
struct LoopPlace {
  Workshare* shared = nullptr;  // null: a static loop without shared data
  LoopKind kind = LoopKind::kStatic;
  bool ordered = false;
  // The kind of construct that was reported to a tool at the beginning.
  tool::Work announced = tool::Work::kNone;
  // shared->next, if one addition is enough to take a chunk; otherwise null.
  Atomic<uint64_t>* adds_to = nullptr;
  // The thread's reserve of chunks in a loop that has them (construct/workshare/reserve.hpp); otherwise null.
  Atomic<uint64_t>* reserve = nullptr;
  uint64_t iterations = 0;
  uint64_t chunk = 0;
  uint64_t position = 0;  // static: first iteration of the thread's next chunk; guided: of chunk number `passed`
  uint64_t step = 0;      // static: distance between two chunks of the thread
  uint64_t passed = 0;    // guided
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
