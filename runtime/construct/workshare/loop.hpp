// SPDX-License-Identifier: Apache-2.0
//
// Worksharing loops and sections (OpenMP 5.2, sections 11.5 and 11.3), for both faces. Iterations are numbered from 0
// here; a face maps them to the program's bounds, which it keeps in Member::loop. Also `ordered`: the chunks take their
// turns one after the other, and within a chunk its thread runs the iterations in order.
#pragma once

#include "construct/workshare/reserve.hpp"
#include "sched/team.hpp"

namespace marline {

struct LoopRequest {
  LoopKind kind;   // kRuntime: from run-sched-var
  uint64_t chunk;  // 0: none given
  uint64_t iterations;
  bool ordered = false;
  // With this function, the loop gets a Workshare whatever its kind. The function is called before any thread
  // continues, with first = true in the thread that fills it.
  void (*prepare)(Worker* worker, Workshare* shared, bool first, void* context) = nullptr;
  void* context = nullptr;
  // For tools.
  tool::Work work = tool::Work::kLoopStatic;  // of a loop; the schedule kind then says which one
  const void* codeptr = nullptr;
};

// The calling thread enters the loop. False: other threads have taken all chunks. True: there may be some for it.
bool loop_begin(Worker* worker, const LoopRequest& request);

// The thread's next chunk; false: none is left.
[[nodiscard]] bool loop_next(Worker* worker, LoopChunk* chunk);

// The same, in line, for a loop with LoopPlace::adds_to. The shorter the time between two additions of a thread, the
// more additions it makes before another core takes the cache line away, which costs ten times as much as an addition.
[[nodiscard]] [[gnu::always_inline]] inline bool loop_add(LoopPlace& place, LoopChunk* chunk) {
  uint64_t first = place.adds_to->fetch_add(place.chunk, relaxed);
  if (first >= place.iterations) return false;
  uint64_t left = place.iterations - first;
  *chunk = {first, left < place.chunk ? left : place.chunk, left <= place.chunk};
  place.had += chunk->count;
  return true;
}

// The same for a loop with LoopPlace::counts_in.
[[nodiscard]] bool loop_count(LoopPlace& place, LoopChunk* chunk);

// The thread leaves the loop, after loop_next has returned false or because the loop is cancelled. codeptr, here and
// below: for tools; by default the return address of the calling entry point.
void loop_leave(Worker* worker, const void* codeptr = __builtin_return_address(0));

// The ordered region of the current iteration. The turn passes on at the end of the chunk; ordered_end only notifies
// tools.
void ordered_begin(Worker* worker, const void* codeptr = __builtin_return_address(0));
void ordered_end(Worker* worker, const void* codeptr = __builtin_return_address(0));

}  // namespace marline
