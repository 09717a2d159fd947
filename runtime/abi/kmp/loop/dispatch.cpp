// SPDX-License-Identifier: Apache-2.0
//
// Loops whose chunks are handed out at run time, and ordered, as Clang calls them. Bounds are inclusive.
#include "abi/kmp/loop/static_share.hpp"
#include "abi/kmp/types.hpp"
#include "base/check.hpp"
#include "construct/workshare/loop.hpp"

namespace marline::kmp {

namespace {

LoopKind kind_of(int32_t schedule) {
  switch (without_order(schedule)) {
    case kDynamicChunked: return is_any_order(schedule) ? LoopKind::kAnyOrder : LoopKind::kDynamic;
    case kGuidedChunked:
    case kGuidedIterative:
    case kGuidedAnalytical: return LoopKind::kGuided;
    case kGuidedSimd: return LoopKind::kGuidedSimd;
    case kRuntime: return LoopKind::kRuntime;
    case kRuntimeSimd: return LoopKind::kRuntimeSimd;
    case kStatic:
    case kStaticChunked:
    case kStaticBalanced:
    case kStaticBalancedChunked:
    case kStaticSteal:
    case kAuto: return LoopKind::kStatic;
    default: fatal("a loop has schedule %d, which Marline does not know; use another schedule clause", schedule);
  }
}

bool has_chunk(int32_t schedule) {
  int32_t plain = without_order(schedule);
  return plain != kStatic && plain != kAuto && plain != kStaticBalanced;
}

template <class T, class S>
void dispatch_init(int32_t schedule, T lower, T upper, S stride, S chunk,
                   const void* codeptr = __builtin_return_address(0)) {
  if (stride == 0) fatal("a worksharing loop has increment 0; OpenMP requires another one");
  using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;  // 2^32 iterations of a 4-byte loop fit
  bool empty = stride > 0 ? upper < lower : lower < upper;
  LoopRequest request{.kind = kind_of(schedule),
                      .chunk = has_chunk(schedule) && chunk > 0 ? static_cast<uint64_t>(chunk) : 0,
                      .iterations = empty ? 0 : trip_count<Wide, int64_t>(lower, upper, stride),
                      .ordered = is_ordered(schedule),
                      .codeptr = codeptr};
  (void)loop_begin(this_worker(), request);
  LoopPlace& place = this_worker()->member->loop;
  place.lower = static_cast<uint64_t>(lower);
  place.stride = static_cast<uint64_t>(stride);
  place.own_step = place.chunk * place.stride;
}

// distribute parallel for: the chunks of the team's block of the loop are handed out to its threads.
template <class T, class S>
void dist_dispatch_init(int32_t schedule, int32_t* last, T lower, T upper, S stride, S chunk,
                        const void* codeptr = __builtin_return_address(0)) {
  if (stride == 0) fatal("a worksharing loop has increment 0; OpenMP requires another one");
  int32_t last_team;
  S unused;
  StaticShare<T>{&last_team, &lower, &upper, &unused, stride, 0}.compute_block_of_team();
  if (last != nullptr) *last = last_team;
  dispatch_init(schedule, lower, upper, stride, chunk, codeptr);
}

// Converts a range of iterations to the program's bounds.
template <class T, class S>
[[gnu::always_inline]] inline int32_t give(const LoopPlace& place, const LoopChunk& chunk, int32_t* last, T* lower,
                                           T* upper, S* stride) {
  *lower = static_cast<T>(place.lower + chunk.first * place.stride);
  *upper = static_cast<T>(place.lower + (chunk.first + chunk.count - 1) * place.stride);
  *stride = static_cast<S>(place.stride);
  if (last != nullptr) *last = chunk.last;
  return 1;
}

[[gnu::noinline]] int32_t leave(const void* codeptr) {
  loop_leave(this_worker(), codeptr);
  return 0;
}

template <class T, class S>
[[gnu::noinline]] int32_t next_of_any_kind(int32_t* last, T* lower, T* upper, S* stride, const void* codeptr) {
  LoopChunk chunk;
  if (!loop_next(this_worker(), &chunk)) return leave(codeptr);
  return give(this_worker()->member->loop, chunk, last, lower, upper, stride);
}

template <class T, class S>
int32_t dispatch_next(int32_t* last, T* lower, T* upper, S* stride, const void* codeptr = __builtin_return_address(0)) {
  LoopPlace& place = this_worker()->member->loop;
  if (!has_own_chunk(place)) {
    LoopChunk chunk;
    if (place.adds_to == nullptr && place.counts_in == nullptr) {
      return next_of_any_kind(last, lower, upper, stride, codeptr);
    }
    const bool got = place.adds_to != nullptr ? loop_add(place, &chunk) : loop_count(place, &chunk);
    return got ? give(place, chunk, last, lower, upper, stride) : leave(codeptr);
  }
  const uint64_t first = next_own(place);
  *lower = static_cast<T>(first);
  *upper = static_cast<T>(first + place.own_step - place.stride);
  *stride = static_cast<S>(place.stride);
  if (last != nullptr) *last = 0;
  return 1;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void __kmpc_dispatch_init_4(Ident*, int32_t, int32_t schedule, int32_t lower, int32_t upper, int32_t stride,
                            int32_t chunk) {
  dispatch_init(schedule, lower, upper, stride, chunk);
}

void __kmpc_dispatch_init_4u(Ident*, int32_t, int32_t schedule, uint32_t lower, uint32_t upper, int32_t stride,
                             int32_t chunk) {
  dispatch_init(schedule, lower, upper, stride, chunk);
}

void __kmpc_dispatch_init_8(Ident*, int32_t, int32_t schedule, int64_t lower, int64_t upper, int64_t stride,
                            int64_t chunk) {
  dispatch_init(schedule, lower, upper, stride, chunk);
}

void __kmpc_dispatch_init_8u(Ident*, int32_t, int32_t schedule, uint64_t lower, uint64_t upper, int64_t stride,
                             int64_t chunk) {
  dispatch_init(schedule, lower, upper, stride, chunk);
}

void __kmpc_dist_dispatch_init_4(Ident*, int32_t, int32_t schedule, int32_t* last, int32_t lower, int32_t upper,
                                 int32_t stride, int32_t chunk) {
  dist_dispatch_init(schedule, last, lower, upper, stride, chunk);
}

void __kmpc_dist_dispatch_init_4u(Ident*, int32_t, int32_t schedule, int32_t* last, uint32_t lower, uint32_t upper,
                                  int32_t stride, int32_t chunk) {
  dist_dispatch_init(schedule, last, lower, upper, stride, chunk);
}

void __kmpc_dist_dispatch_init_8(Ident*, int32_t, int32_t schedule, int32_t* last, int64_t lower, int64_t upper,
                                 int64_t stride, int64_t chunk) {
  dist_dispatch_init(schedule, last, lower, upper, stride, chunk);
}

void __kmpc_dist_dispatch_init_8u(Ident*, int32_t, int32_t schedule, int32_t* last, uint64_t lower, uint64_t upper,
                                  int64_t stride, int64_t chunk) {
  dist_dispatch_init(schedule, last, lower, upper, stride, chunk);
}

int32_t __kmpc_dispatch_next_4(Ident*, int32_t, int32_t* last, int32_t* lower, int32_t* upper, int32_t* stride) {
  return dispatch_next(last, lower, upper, stride);
}

int32_t __kmpc_dispatch_next_4u(Ident*, int32_t, int32_t* last, uint32_t* lower, uint32_t* upper, int32_t* stride) {
  return dispatch_next(last, lower, upper, stride);
}

int32_t __kmpc_dispatch_next_8(Ident*, int32_t, int32_t* last, int64_t* lower, int64_t* upper, int64_t* stride) {
  return dispatch_next(last, lower, upper, stride);
}

int32_t __kmpc_dispatch_next_8u(Ident*, int32_t, int32_t* last, uint64_t* lower, uint64_t* upper, int64_t* stride) {
  return dispatch_next(last, lower, upper, stride);
}

// Called after each iteration of an ordered loop; the turn passes with the chunk, in dispatch_next.
void __kmpc_dispatch_fini_4(Ident*, int32_t) {}
void __kmpc_dispatch_fini_4u(Ident*, int32_t) {}
void __kmpc_dispatch_fini_8(Ident*, int32_t) {}
void __kmpc_dispatch_fini_8u(Ident*, int32_t) {}
void __kmpc_dispatch_deinit(Ident*, int32_t) {}

void __kmpc_ordered(Ident*, int32_t) { ordered_begin(this_worker()); }
void __kmpc_end_ordered(Ident*, int32_t) { ordered_end(this_worker()); }

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::kmp
