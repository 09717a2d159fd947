// SPDX-License-Identifier: Apache-2.0
//
// Worksharing loops and sections (OpenMP 5.2, sections 11.5 and 11.3), for both faces: iterations are numbered from 0
// here, and a face maps them to the program's bounds, which it keeps in Member::loop. Also `ordered`: chunks take their
// turn one after the other, and within a chunk its thread goes through the iterations in order.
#pragma once

#include "sched/team.hpp"

namespace marline {

struct LoopRequest {
  LoopKind kind;   // kRuntime: by run-sched-var
  uint64_t chunk;  // 0: none given
  uint64_t iterations;
  bool ordered = false;
  // With a function, the loop gets a Workshare whatever its kind; it is called before any thread goes on, with
  // first = true in the thread that fills the slot.
  void (*prepare)(Worker* worker, Workshare* shared, bool first, void* context) = nullptr;
  void* context = nullptr;
  bool may_skip =
      true;  // as in workshare_enter: the program needs nothing of what `prepare` does outside of iterations
  // For tools.
  tool::Work work = tool::Work::kLoopStatic;  // of a loop, the kind says more
  const void* codeptr = nullptr;
};

struct LoopChunk {
  uint64_t first;
  uint64_t count;
  bool last;  // contains the loop's last iteration
};

// The calling thread enters the loop.
void loop_begin(Worker* worker, const LoopRequest& request);

// Its next chunk; false: none is left.
[[nodiscard]] bool loop_next(Worker* worker, LoopChunk* chunk);

// The same, in line, of a loop with LoopPlace::adds_to: the less there is between two additions of a thread's, the more
// of them it makes before another core takes the line away, which costs ten times as much.
[[nodiscard]] [[gnu::always_inline]] inline bool loop_add(LoopPlace& place, LoopChunk* chunk) {
  uint64_t first = place.adds_to->fetch_add(place.chunk, relaxed);
  if (first >= place.iterations) return false;
  uint64_t left = place.iterations - first;
  *chunk = {first, left < place.chunk ? left : place.chunk, left <= place.chunk};
  return true;
}

// The thread leaves the loop, after loop_next has said false or because the loop is cancelled. codeptr, here and below:
// for tools; by default where the entry point that calls it returns to.
void loop_leave(Worker* worker, const void* codeptr = __builtin_return_address(0));

// The ordered region of the current iteration. The turn passes with the chunk; the end is only told to tools.
void ordered_begin(Worker* worker, const void* codeptr = __builtin_return_address(0));
void ordered_end(Worker* worker, const void* codeptr = __builtin_return_address(0));

}  // namespace marline
