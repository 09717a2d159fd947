// SPDX-License-Identifier: Apache-2.0
//
// GCC's loop bounds: `start` included, `end` excluded, `increment` of either sign; `long` or, with a separate
// direction, `unsigned long long`. Both become iterations counted from 0, in unsigned arithmetic, which wraps as GCC
// expects.
#pragma once

#include "construct/workshare/doacross.hpp"
#include "construct/workshare/loop.hpp"

#include <algorithm>

namespace marline::gomp {

struct Bounds {
  uint64_t start;
  uint64_t end;
  uint64_t increment;
  uint64_t iterations;
};

inline Bounds bounds(long start, long end, long increment) {
  auto from = static_cast<uint64_t>(start);
  auto to = static_cast<uint64_t>(end);
  auto step = static_cast<uint64_t>(increment);
  uint64_t count = 0;
  if (increment > 0 && start < end) count = step == 1 ? to - from : (to - from - 1) / step + 1;
  if (increment < 0 && start > end) count = (from - to - 1) / (0 - step) + 1;
  return {from, to, step, count};
}

inline Bounds bounds_ull(bool up, uint64_t start, uint64_t end, uint64_t increment) {
  uint64_t count = 0;
  if (up && start < end) count = (end - start - 1) / increment + 1;
  if (!up && start > end) count = (start - end - 1) / (0 - increment) + 1;
  return {start, end, increment, count};
}

// What a construct may ask for besides its loop: memory for task reductions, memory that the team shares, and order
// between iterations (doacross).
struct Extras {
  uintptr_t* reductions = nullptr;
  void** memory = nullptr;  // in: how many bytes; out: where
  const DoacrossNest* doacross = nullptr;
};

struct Schedule {
  LoopKind kind;
  long chunk = 0;
  bool ordered = false;
  tool::Work work = tool::Work::kLoopStatic;  // LoopRequest::work
};

inline constexpr Schedule kSections{LoopKind::kDynamic, 1, false, tool::Work::kSections};

// The schedule argument of GOMP_loop_start (GCC, libgomp/libgomp.h, enum gomp_schedule_type).
Schedule schedule_of(long schedule, long chunk, bool ordered);

inline void keep_bounds(LoopPlace& place, const Bounds& bounds) {
  place.lower = bounds.start;
  place.upper = bounds.end;
  place.stride = bounds.increment;
  place.own_step = place.chunk * place.stride;
}

// codeptr: for tools; by default the return address of the entry point that calls `begin`.
void begin(const Schedule& schedule, const Bounds& bounds, const Extras& extras,
           const void* codeptr = __builtin_return_address(0));

// The same for a loop without extras, in line: arguments stay in registers. False: the thread gets no chunk.
[[gnu::always_inline]] inline bool begin(const Schedule& schedule, const Bounds& bounds,
                                         const void* codeptr = __builtin_return_address(0)) {
  const bool may_have = loop_begin(this_worker(), {.kind = schedule.kind,
                                                   .chunk = static_cast<uint64_t>(std::max(schedule.chunk, 0L)),
                                                   .iterations = bounds.iterations,
                                                   .ordered = schedule.ordered,
                                                   .work = schedule.work,
                                                   .codeptr = codeptr});
  keep_bounds(this_worker()->member->loop, bounds);
  return may_have;
}

// Converts a range of iterations to the program's bounds.
template <class T>
[[gnu::always_inline]] inline bool give(const LoopPlace& place, const LoopChunk& chunk, T* start, T* end) {
  *start = static_cast<T>(place.lower + chunk.first * place.stride);
  *end = static_cast<T>(chunk.last ? place.upper : place.lower + (chunk.first + chunk.count) * place.stride);
  return true;
}

template <class T>
[[gnu::noinline]] bool next_of_any_kind(T* start, T* end) {
  LoopChunk chunk;
  if (!loop_next(this_worker(), &chunk)) return false;
  return give(this_worker()->member->loop, chunk, start, end);
}

// The next chunk of the loop that the thread is in.
template <class T>
bool next(T* start, T* end) {
  LoopPlace& place = this_worker()->member->loop;
  if (!has_own_chunk(place)) {
    LoopChunk chunk;
    if (place.adds_to != nullptr) return loop_add(place, &chunk) && give(place, chunk, start, end);
    if (place.counts_in != nullptr) return loop_count(place, &chunk) && give(place, chunk, start, end);
    return next_of_any_kind(start, end);
  }
  const uint64_t first = next_own(place);
  *start = static_cast<T>(first);
  *end = static_cast<T>(first + place.own_step);
  return true;
}

template <class T>
[[gnu::always_inline]] inline bool begin_and_next(const Schedule& schedule, const Bounds& bounds, T* start, T* end,
                                                  const void* codeptr = __builtin_return_address(0)) {
  return begin(schedule, bounds, codeptr) && next(start, end);
}

}  // namespace marline::gomp
