// SPDX-License-Identifier: Apache-2.0
//
// Doacross loops. The record of a nest is in the memory of a worksharing construct. The first thread to arrive writes
// it. Then it is read-only, except for the words of posts. The last thread to leave frees it.
//
//   in rows    A row is one iteration of the first dimension. One thread runs a group of rows in order. There is a word
//              per group: the number of its last posted iteration, counted through the whole nest, plus one. Only the
//              group's thread writes the word.
//   otherwise  A bit per iteration. Any thread sets it.
// Invariant: a word only grows. In rows, a wait for iteration n ends once its thread has posted n or a later one:
// iteration n has ended by then, whether it posted or not.
//
// So what a thread once saw in a word stays true, and it reads the word again only for an iteration that was not posted
// then. The thread that posts keeps the cache line meanwhile: a thread that is some iterations behind costs it nothing.
#include "construct/workshare/doacross.hpp"

#include "base/check.hpp"
#include "base/sanitizer.hpp"
#include "config/options.hpp"
#include "construct/sync/cancel.hpp"
#include "construct/workshare/workshare.hpp"
#include "exec/team/region_cancellation.hpp"
#include "exec/worker/announce.hpp"
#include "exec/worker/parking.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>

namespace marline {

struct Doacross {
  Workshare* shared;
  unsigned dimensions;
  bool in_rows;
  // A team of one thread: there is no other thread, and each iteration that may be waited for has ended.
  bool alone;
  Atomic<uint64_t>* posts = nullptr;
  // Used with in_rows.
  // The distance, in words, between the words of two groups.
  uint64_t spacing = 1;
  // Rows of a group; 0: a group is a thread's block of a static loop.
  uint64_t chunk = 1;
  // With chunk 0: the rows of a block.
  uint64_t block = 0;
  // With chunk 0: the first so many threads have one row more (construct/workshare/loop.cpp).
  uint64_t extras = 0;

  // The dimensions are in memory after the record.
  DoacrossDimension* dimension() { return reinterpret_cast<DoacrossDimension*>(this + 1); }
  [[nodiscard]] const DoacrossDimension* dimension() const {
    return reinterpret_cast<const DoacrossDimension*>(this + 1);
  }
};

namespace {

// Up to so many bytes, words get cache lines of their own; more words share cache lines.
constexpr size_t kPaddedUpTo = 1 << 20;
constexpr size_t kWordBytes = sizeof(uint64_t);
constexpr uint64_t kMostWords = SIZE_MAX / 4 / kWordBytes;

constexpr size_t round_up(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

constexpr size_t record_bytes(unsigned dimensions) {
  return round_up(sizeof(Doacross) + dimensions * sizeof(DoacrossDimension), alignof(max_align_t));
}

// Groups the rows by the chunks of construct/workshare/loop.cpp. Guided chunks begin at any row, so there each row is a
// group.
uint64_t group_rows(Doacross* nest, const Workshare* loop, uint64_t rows, uint64_t threads) {
  if (loop->kind == LoopKind::kStatic) nest->chunk = loop->chunk;
  if (loop->kind == LoopKind::kDynamic) nest->chunk = std::max<uint64_t>(loop->chunk, 1);
  nest->block = rows / threads;
  nest->extras = rows % threads;
  uint64_t groups = nest->chunk != 0 ? (rows - 1) / nest->chunk + 1 : std::min(rows, threads);
  if (groups <= kPaddedUpTo / kCacheLine) nest->spacing = kCacheLine / kWordBytes;
  return groups * nest->spacing;
}

// The number of words that the nest needs; 0: none, or more than any memory can hold.
uint64_t count_words(Doacross* nest, const Workshare* loop, const DoacrossNest& request, uint64_t threads) {
  uint64_t iterations = 1;
  for (unsigned i = 0; i < request.dimensions; ++i) {
    uint64_t count = request.dimension(request.table, i).count;
    if (__builtin_mul_overflow(iterations, count, &iterations)) return 0;
  }
  if (iterations == 0 || nest->alone) return 0;
  uint64_t words = nest->in_rows ? group_rows(nest, loop, request.dimension(request.table, 0).count, threads)
                                 : (iterations - 1) / 64 + 1;
  return words <= kMostWords ? words : 0;
}

// Makes the record, then `extra` bytes, then the words. If there is no memory for the words, it is not an error yet:
// perhaps no iteration posts. If an inner loop has no iterations, Clang may have computed a very large number of them.
void describe(Workshare* shared, const DoacrossNest& request, uint64_t threads, size_t extra) {
  if (request.dimensions > kDoacrossDimensions) {
    fatal("a loop is ordered(%u); Marline has room for %u, use fewer", request.dimensions, kDoacrossDimensions);
  }
  Doacross nest{.shared = shared, .dimensions = request.dimensions, .in_rows = request.in_rows, .alone = threads == 1};
  uint64_t words = count_words(&nest, shared, request, threads);
  size_t before = record_bytes(request.dimensions) + extra;
  void* memory = words != 0 ? std::calloc(1, before + kCacheLine + words * kWordBytes) : nullptr;
  if (memory != nullptr) {
    shared->memory = memory;
    nest.posts =
        reinterpret_cast<Atomic<uint64_t>*>(round_up(reinterpret_cast<uintptr_t>(memory) + before, kCacheLine));
  } else {
    memory = workshare_memory(shared, before);
  }
  auto* record = new (memory) Doacross(nest);
  for (unsigned i = 0; i < request.dimensions; ++i) record->dimension()[i] = request.dimension(request.table, i);
}

[[gnu::always_inline]] inline uint64_t group_of(const Doacross* nest, uint64_t row) {
  if (nest->chunk == 1) return row;
  if (nest->chunk != 0) return row / nest->chunk;
  uint64_t in_longer_blocks = nest->extras * (nest->block + 1);
  if (row < in_longer_blocks) return row / (nest->block + 1);
  return nest->extras + (row - in_longer_blocks) / nest->block;
}

// The iteration's number from 0 in one loop; for a value outside of the loop, at least the loop's count.
[[gnu::always_inline]] inline uint64_t number_in(const DoacrossDimension& loop, uint64_t value) {
  if (loop.stride == 1) return value - loop.lower;
  auto stride = static_cast<uint64_t>(loop.stride);
  return loop.stride > 0 ? (value - loop.lower) / stride : (loop.lower - value) / (0 - stride);
}

// The same in the whole nest. False: there is no such iteration.
[[gnu::always_inline]] inline bool number_in(const Doacross* nest, const uint64_t* iteration, uint64_t* row,
                                             uint64_t* number) {
  const DoacrossDimension* loop = nest->dimension();
  *number = *row = number_in(*loop, *iteration);
  if (*row >= loop->count) return false;
  for (const auto* end = loop + nest->dimensions; ++loop != end;) {
    const uint64_t here = number_in(*loop, *++iteration);
    if (here >= loop->count) return false;
    *number = *number * loop->count + here;
  }
  return true;
}

// The word in which an iteration is posted, and the value that it gets.
struct Place {
  Atomic<uint64_t>* word = nullptr;  // null: no thread waits for this
  uint64_t value = 0;
  uint64_t group = 0;  // with in_rows
};

// False: there is no such iteration.
[[gnu::always_inline]] inline bool find_place(const Doacross* nest, const uint64_t* iteration, Place* place) {
  uint64_t row, number;
  if (!number_in(nest, iteration, &row, &number)) return false;
  if (nest->posts == nullptr) [[unlikely]] {
    if (nest->alone) return true;
    fatal("no memory for the dependences of an ordered(%u) loop; use fewer iterations", nest->dimensions);
  }
  if (nest->in_rows) {
    place->group = group_of(nest, row);
    place->word = &nest->posts[place->group * nest->spacing];
    place->value = number + 1;
  } else {
    place->word = &nest->posts[number / 64];
    place->value = uint64_t{1} << number % 64;
  }
  return true;
}

// False: the wait was interrupted.
bool wait_for_post(const Doacross* nest, const Place& place, Interruption interruption) {
  if (nest->in_rows) return wait_at_least(*place.word, place.value, interruption);
  return wait_for_bits(*place.word, place.value, interruption);
}

bool shows(const SeenPosts& seen, const Doacross* nest, const Place& place) {
  if (seen.word != place.word) return false;
  return nest->in_rows ? seen.value >= place.value : (seen.value & place.value) != 0;
}

// Whether the thread has seen before that the iteration was posted; else looks once.
bool is_known(Member* member, const Doacross* nest, const Place& place) {
  if (shows(member->posted, nest, place) || shows(member->awaited, nest, place)) return true;
  // acquire pairs with the post in advance and set_bits.
  member->awaited = {place.word, place.word->load(acquire)};
  return shows(member->awaited, nest, place);
}

// The address that ThreadSanitizer knows for the order of posts: eight iterations share one address, or all iterations
// of a group of rows.
const void* order_of(const Doacross* nest, const Place& place) {
  const auto* word = reinterpret_cast<const char*>(place.word);
  return nest->in_rows ? word : word + std::countr_zero(place.value) / 8;
}

// In a cancelled region: whether the iteration's thread may stay away. With rows of a static loop, that thread is
// known. Other loops that distribute rows give the rows of absent threads to other threads. With bits the thread is not
// known, and any bit may be missing.
bool may_never_be_posted(const Team* team, const Doacross* nest, const Place& place) {
  if (!nest->in_rows) return is_region_cancelled(team);
  if (nest->shared->kind != LoopKind::kStatic) return false;
  return stays_away(team->members[place.group % static_cast<uint64_t>(team->size)]);
}

[[gnu::noinline]] void wait_unless_absent(const Doacross* nest, const Place& place) {
  const Team* team = this_worker()->member->team;
  Interruption departures;
  do {
    departures = departures_of(team);
    if (may_never_be_posted(team, nest, place)) return;
  } while (!wait_for_post(nest, place, departures));
}

[[gnu::noinline]] void wait_for_unknown(const Doacross* nest, const Place& place) {
  if (options().cancellation) return wait_unless_absent(nest, place);
  wait_for_post(nest, place, {});
}

void wait_at(Member* member, const Doacross* nest, const Place& place) {
  if (place.word == nullptr) return;
  if (!is_known(member, nest, place)) wait_for_unknown(nest, place);
  tsan_acquire(order_of(nest, place));
}

// One record per dimension, as in LLVM's runtime.
[[gnu::noinline]] void announce(const Doacross* nest, const uint64_t* iteration, tool::DoacrossDependence type) {
  if (!tool::on(tool::event::kDependences)) return;
  tool::DependenceRecord records[kDoacrossDimensions];
  for (unsigned i = 0; i < nest->dimensions; ++i) records[i] = {iteration[i], static_cast<int>(type)};
  tool::dependences(&this_worker()->task->tool_data, records, nest->dimensions);
}

[[gnu::noinline]] void wait_reporting(Worker* worker, const Doacross* nest, const Place& place,
                                      const uint64_t* iteration) {
  begin_wait(worker, ompt::State::kWaitOrdered, place.word);
  wait_at(worker->member, nest, place);
  end_wait(this_worker());
  announce(nest, iteration, tool::DoacrossDependence::kSink);
}

}  // namespace

void* doacross_attach(Worker* worker, Workshare* loop, bool first, const DoacrossNest& nest, size_t extra) {
  Member* member = worker->member;
  if (first) describe(loop, nest, static_cast<uint64_t>(member->team->size), extra);
  member->doacross = static_cast<Doacross*>(loop->memory);
  member->posted = member->awaited = {};  // another nest may have had its words there
  return static_cast<char*>(loop->memory) + record_bytes(nest.dimensions);
}

void doacross_begin(Worker* worker, const DoacrossNest& nest) {
  keep_two_together(worker);
  auto [shared, first] = workshare_enter(worker);
  worker = this_worker();
  doacross_attach(worker, shared, first, nest, 0);
  if (first) workshare_publish(worker, shared);
}

void doacross_end(Worker* worker) { workshare_leave(worker, worker->member->doacross->shared); }

unsigned doacross_dimensions(const Worker* worker) { return worker->member->doacross->dimensions; }

uint64_t doacross_count(const Worker* worker, unsigned dimension) {
  return worker->member->doacross->dimension()[dimension].count;
}

void doacross_post(Worker* worker, const uint64_t* iteration) {
  const Doacross* nest = worker->member->doacross;
  if (tool::present()) [[unlikely]] {
    announce(nest, iteration, tool::DoacrossDependence::kSource);
  }
  if (nest->alone) return;
  Place place;
  if (!find_place(nest, iteration, &place)) return;
  tsan_release(order_of(nest, place));
  Member* member = worker->member;
  const uint64_t before = member->posted.word == place.word ? member->posted.value : 0;
  if (nest->in_rows) {
    advance(*place.word, place.value);
    member->posted = {place.word, place.value};
  } else {
    set_bits(*place.word, place.value);
    member->posted = {place.word, before | place.value};
  }
}

void doacross_wait(Worker* worker, const uint64_t* iteration) {
  const Doacross* nest = worker->member->doacross;
  if (nest->alone && !tool::present()) return;
  Place place;
  if (!find_place(nest, iteration, &place)) return;
  if (tool::present()) [[unlikely]] {
    wait_reporting(worker, nest, place, iteration);
  } else {
    wait_at(worker->member, nest, place);
  }
}

}  // namespace marline
