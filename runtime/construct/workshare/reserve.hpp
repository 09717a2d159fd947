// SPDX-License-Identifier: Apache-2.0
//
// Reserves of chunks, for dynamic loops whose chunks may come in any order (nonmonotonic: the default from OpenMP 5.0
// on). Where bodies are short, the time goes into the loop's counter, whose cache line moves from core to core with
// each chunk. So a thread takes several chunks at a time, twice as many as last time while they last less than 2 us. A
// few are its own; the others go into its reserve, a cache line of its own, from which it takes a few at a time. When
// the loop's counter is at its end, a thread takes half of the reserve of another one. Chunks of 2 us and more are
// taken one by one, and nobody waits for a chunk. The thread that has had the loop's last chunk takes no other one
// after it, as compilers expect.
//
// Invariant: a chunk is taken once. It is after the counter, or in one thread's reserve, or taken. A reserve is one
// word, the range of its chunks. Its owner takes the first ones by an addition, which may pass the range's end: it then
// is empty. Others take from the end by compare-and-swap, never from an empty range; only the owner fills its reserve,
// when it is empty. A range that once was in a word never is there again, as its chunks are gone.
// tests/model/reserve.pml searches all orders. A thread always runs the lowest of the chunks that it holds. So a
// program ends although its iterations wait for earlier ones, as with chunks in order.
#pragma once

#include "sched/team.hpp"

namespace marline {

struct LoopChunk {
  uint64_t first;
  uint64_t count;
  bool last;  // contains the loop's last iteration
};

// Whether a loop has enough chunks for reserves, and not too many for a word. Otherwise its chunks are handed out one
// by one. The first thread asks, for all.
[[nodiscard]] bool reserve_pays(const Team* team, uint64_t iterations, uint64_t chunk);

// Prepares the thread's place in a loop with ChunkTaking::kIntoReserve that has been entered; place.chunk is set.
void reserve_begin(Member* member, LoopPlace& place);

// The thread leaves the loop. If the loop was cancelled, the thread's reserve may have chunks left: nobody takes them.
void reserve_end(LoopPlace& place);

// Whether the next chunk is one of the thread's own. It has place.chunk iterations, is not the loop's last one, and
// next_own gives its first value in the program's bounds, in line.
[[nodiscard]] inline bool has_own_chunk(const LoopPlace& place) { return place.own_next != place.own_end; }
[[nodiscard]] inline uint64_t next_own(LoopPlace& place) { return place.lower + place.own_next++ * place.own_step; }

// The next chunk, for a thread that has none of its own.
[[nodiscard]] bool take_more(Member* member, LoopChunk* chunk);

}  // namespace marline
