// SPDX-License-Identifier: Apache-2.0
//
// How threads fill their reserves of chunks (construct/workshare/reserve.hpp).
#include "construct/workshare/reserve.hpp"

#include "base/clock.hpp"
#include "sched/locality.hpp"

#include <algorithm>

namespace marline {

namespace {

// What is taken at a time should last about so long, in ns: the counter's cache line then costs a few per cent.
constexpr uint64_t kLasts = 2000;
constexpr uint32_t kMostAtATime = 256;
// Of what is taken at a time, this part becomes the thread's own at once, and not more than so many chunks. Nobody can
// steal them, and any of them can turn out to be long.
constexpr uint32_t kOwnPart = 8;
constexpr uint32_t kMostOwn = 4;
// At most this part of an even share of the rest is taken at a time, so that little is left to steal at the end, and
// next to nothing that cannot be stolen.
constexpr uint32_t kPartOfShare = 4;
// If all that is left lasts less, in ns, by how long the last chunks lasted, one thread takes it (kMostAtATime at
// most): another one would need about as long for its part. All but the thread's own chunks can still be stolen.
constexpr uint64_t kNotWorthSharing = 1000;
// A loop with fewer chunks per thread would never take two at a time.
constexpr uint64_t kFewest = 2 * kPartOfShare;
// A number of a chunk that a reserve can hold, with room for the additions to an empty one.
constexpr uint64_t kMostChunks = uint64_t{1} << 31;

struct ChunkRange {
  uint32_t next, end;  // numbers of chunks; the range is empty unless next < end
  bool empty() const { return next >= end; }
};

ChunkRange range_in(uint64_t word) { return {static_cast<uint32_t>(word), static_cast<uint32_t>(word >> 32)}; }
uint64_t word_of(ChunkRange range) { return uint64_t{range.end} << 32 | range.next; }

uint64_t chunks_of(uint64_t iterations, uint64_t chunk) {
  return iterations / chunk + (iterations % chunk != 0 ? 1 : 0);
}

// How many chunks to take now: by how long the last ones lasted.
uint32_t how_many(const LoopPlace& place, uint64_t now, uint32_t threads) {
  if (place.taken_at == 0) return 1;
  const uint64_t lasted = now - place.taken_at, aim = cycles_about(kLasts);
  const auto left = static_cast<uint32_t>(place.chunks - place.taken_to);  // fits: kMostChunks
  uint64_t count = place.at_a_time, most = left / (threads * kPartOfShare);
  if (lasted < aim) {
    count *= 2;
    if (left * lasted < place.at_a_time * cycles_about(kNotWorthSharing)) count = most = left;
  } else if (lasted > 2 * aim) {
    count = count * aim / lasted;
  }
  return static_cast<uint32_t>(std::clamp<uint64_t>(count, 1, std::clamp<uint64_t>(most, 1, kMostAtATime)));
}

LoopChunk chunk_number(LoopPlace& place, uint32_t number) {
  const uint64_t first = number * place.chunk, left = place.iterations - first;
  if (left <= place.chunk) place.had_last = true;
  return {first, std::min(left, place.chunk), left <= place.chunk};
}

uint32_t own_part(const LoopPlace& place) { return std::clamp<uint32_t>(place.at_a_time / kOwnPart, 1, kMostOwn); }

// The first chunk of the range is the next one.
bool make_own(LoopPlace& place, ChunkRange range, LoopChunk* chunk) {
  place.had += std::min(range.end * place.chunk, place.iterations) - range.next * place.chunk;
  *chunk = chunk_number(place, range.next);
  place.owns_last = range.end == place.chunks && !chunk->last;
  place.own_next = range.next + 1;
  place.own_end = range.end - (place.owns_last ? 1 : 0);
  return true;
}

bool take_own(LoopPlace& place, LoopChunk* chunk) {
  if (has_own_chunk(place)) {
    *chunk = chunk_number(place, place.own_next++);
    return true;
  }
  if (!place.owns_last) return false;
  place.owns_last = false;
  *chunk = chunk_number(place, place.own_end);
  return true;
}

// A part becomes the thread's own, the rest goes to its reserve, which is empty.
bool keep(LoopPlace& place, ChunkRange range, LoopChunk* chunk) {
  const uint32_t end = std::min(range.end, range.next + own_part(place));
  if (end < range.end) place.reserve->store(word_of({end, range.end}), relaxed);
  return make_own(place, {range.next, end}, chunk);
}

bool take_from_reserve(LoopPlace& place, LoopChunk* chunk) {
  if (range_in(place.reserve->load(relaxed)).empty()) return false;
  const uint32_t count = own_part(place);
  const ChunkRange range = range_in(place.reserve->fetch_add(count, relaxed));
  return !range.empty() && make_own(place, {range.next, std::min(range.end, range.next + count)}, chunk);
}

// Half of what the first other thread with a reserve has there. May miss chunks that are on their way into a reserve:
// their thread runs them.
bool steal(Member* member, LoopChunk* chunk) {
  LoopPlace& place = member->loop;
  for (int i = 0; i + 1 < member->team->size; ++i) {
    Atomic<uint64_t>& reserve = member->block->reserve(nth_victim(member, i)->index, place.shared);
    uint64_t word = reserve.load(relaxed);
    for (ChunkRange range = range_in(word); !range.empty(); range = range_in(word)) {
      const uint32_t middle = range.next + (range.end - range.next) / 2;
      if (reserve.compare_exchange_weak(word, word_of({range.next, middle}), relaxed)) {
        place.at_a_time = 1;  // the chunks here have been waiting: they may be behind a long one
        return keep(place, {middle, range.end}, chunk);
      }
    }
  }
  return false;
}

}  // namespace

bool reserve_pays(const Team* team, uint64_t iterations, uint64_t chunk) {
  const uint64_t fewest = kFewest * static_cast<uint64_t>(team->size);
  chunk = std::max<uint64_t>(chunk, 1);
  uint64_t of_fewer, of_most;  // iterations; the products are not divided, which would take longer
  if (__builtin_mul_overflow(fewest - 1, chunk, &of_fewer) || iterations <= of_fewer) return false;
  return __builtin_mul_overflow(kMostChunks - 1, chunk, &of_most) || iterations <= of_most;
}

void reserve_begin(Member* member, LoopPlace& place) {
  place.chunks = chunks_of(place.iterations, place.chunk);
  place.taken_at = place.taken_to = 0;
  place.at_a_time = 1;
  place.reserve = &member->block->reserve(member->index, place.shared);
}

void reserve_end(LoopPlace& place) {
  if (!range_in(place.reserve->load(relaxed)).empty()) place.reserve->store(0, relaxed);
  place.reserve = nullptr;
  place.own_next = place.own_end;
}

bool take_more(Member* member, LoopChunk* chunk) {
  LoopPlace& place = member->loop;
  Workshare* shared = place.shared;
  if (take_own(place, chunk) || take_from_reserve(place, chunk)) return true;
  // The compiler asks of a thread's last chunk whether it is the loop's, for lastprivate: none may follow that one.
  if (place.had_last) return false;
  const uint64_t now = cycles();
  place.at_a_time = how_many(place, now, static_cast<uint32_t>(member->team->size));
  place.taken_at = now;
  if (place.at_a_time > 1 && !shared->has_reserves.load(relaxed)) shared->has_reserves.store(true, relaxed);
  // acq_rel pairs with the additions before: after the last chunk, the thread sees that one of them went to a reserve.
  const uint64_t first = shared->next.fetch_add(place.at_a_time, acq_rel);
  if (first >= place.chunks) return shared->has_reserves.load(relaxed) && steal(member, chunk);
  place.taken_to = std::min<uint64_t>(first + place.at_a_time, place.chunks);
  return keep(place, {static_cast<uint32_t>(first), static_cast<uint32_t>(place.taken_to)}, chunk);
}

}  // namespace marline
