// SPDX-License-Identifier: Apache-2.0
//
// Loops with a static schedule, and the part of a distribute construct that is one, as Clang calls them.
#include "abi/kmp/loop/static_share.hpp"
#include "abi/kmp/types.hpp"
#include "base/check.hpp"
#include "exec/worker/announce.hpp"

namespace marline::kmp {

namespace {

tool::Work work_of(const Ident* where) {
  if (where->flags & kIdentSections) return tool::Work::kSections;
  return where->flags & kIdentDistribute ? tool::Work::kDistribute : tool::Work::kLoopStatic;
}

void check_increment(int64_t increment) {
  if (increment == 0) fatal("a worksharing loop has increment 0; OpenMP requires another one");
}

template <class T>
void announce_begin(const Ident* where, const StaticShare<T>& share, const void* codeptr) {
  if (!tool::on(tool::event::kWork)) return;
  announce_work(this_worker(), work_of(where), tool::Endpoint::kBegin,
                share.empty() ? 0 : trip_count(*share.lower, *share.upper, share.increment), codeptr);
}

// Reports the thread's first chunk, the only one that the runtime knows, or all of its sections.
template <class T>
[[gnu::noinline]] void announce_share(const Ident* where, const StaticShare<T>& share, T begin, const void* codeptr) {
  if (share.empty()) return;
  const Worker* worker = this_worker();
  uint64_t* region = &worker->member->team->tool_data;
  uint64_t* task = &worker->task->tool_data;
  uint64_t iterations = trip_count(*share.lower, *share.upper, share.increment);
  tool::Work work = work_of(where);
  if (work == tool::Work::kSections) {
    for (uint64_t i = 0; i < iterations; ++i) tool::dispatch_section(region, task, codeptr);
    return;
  }
  bool distribute = work == tool::Work::kDistribute;
  uint64_t first = *share.lower == begin ? 0 : trip_count(begin, *share.lower, share.increment) - 1;
  tool::dispatch_chunk(distribute ? tool::Dispatch::kDistributeChunk : tool::Dispatch::kLoopChunk, region, task, first,
                       iterations);
}

template <class T, class S>
void static_init(const Ident* where, int32_t schedule, int32_t* last, T* lower, T* upper, S* stride, S increment,
                 S chunk, const void* codeptr = __builtin_return_address(0)) {
  check_increment(increment);
  StaticShare<T> share{last, lower, upper, stride, increment, chunk};
  announce_begin(where, share, codeptr);
  T begin = *lower;
  share.compute(schedule);
  if (tool::on(tool::event::kDispatch)) [[unlikely]] {
    announce_share(where, share, begin, codeptr);
  }
}

template <class T, class S>
void dist_for_static_init(const Ident* where, int32_t schedule, int32_t* last, T* lower, T* upper, T* upper_of_team,
                          S* stride, S increment, S chunk, const void* codeptr = __builtin_return_address(0)) {
  check_increment(increment);
  StaticShare<T> share{last, lower, upper, stride, increment, chunk};
  announce_begin(where, share, codeptr);
  T begin = *lower;
  share.compute_twice(schedule, upper_of_team);
  if (tool::on(tool::event::kDispatch)) [[unlikely]] {
    announce_share(where, share, begin, codeptr);
  }
}

// Called before the team's parallel regions, one per chunk. Nothing is called at the construct's end, so only the
// parallel regions are reported to tools.
template <class T, class S>
void team_static_init(int32_t* last, T* lower, T* upper, S* stride, S increment, S chunk) {
  check_increment(increment);
  StaticShare<T>{last, lower, upper, stride, increment, chunk}.compute_team_chunk();
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void __kmpc_for_static_init_4(Ident* where, int32_t, int32_t schedule, int32_t* last, int32_t* lower, int32_t* upper,
                              int32_t* stride, int32_t increment, int32_t chunk) {
  static_init(where, schedule, last, lower, upper, stride, increment, chunk);
}

void __kmpc_for_static_init_4u(Ident* where, int32_t, int32_t schedule, int32_t* last, uint32_t* lower, uint32_t* upper,
                               int32_t* stride, int32_t increment, int32_t chunk) {
  static_init(where, schedule, last, lower, upper, stride, increment, chunk);
}

void __kmpc_for_static_init_8(Ident* where, int32_t, int32_t schedule, int32_t* last, int64_t* lower, int64_t* upper,
                              int64_t* stride, int64_t increment, int64_t chunk) {
  static_init(where, schedule, last, lower, upper, stride, increment, chunk);
}

void __kmpc_for_static_init_8u(Ident* where, int32_t, int32_t schedule, int32_t* last, uint64_t* lower, uint64_t* upper,
                               int64_t* stride, int64_t increment, int64_t chunk) {
  static_init(where, schedule, last, lower, upper, stride, increment, chunk);
}

void __kmpc_dist_for_static_init_4(Ident* where, int32_t, int32_t schedule, int32_t* last, int32_t* lower,
                                   int32_t* upper, int32_t* upper_of_team, int32_t* stride, int32_t increment,
                                   int32_t chunk) {
  dist_for_static_init(where, schedule, last, lower, upper, upper_of_team, stride, increment, chunk);
}

void __kmpc_dist_for_static_init_4u(Ident* where, int32_t, int32_t schedule, int32_t* last, uint32_t* lower,
                                    uint32_t* upper, uint32_t* upper_of_team, int32_t* stride, int32_t increment,
                                    int32_t chunk) {
  dist_for_static_init(where, schedule, last, lower, upper, upper_of_team, stride, increment, chunk);
}

void __kmpc_dist_for_static_init_8(Ident* where, int32_t, int32_t schedule, int32_t* last, int64_t* lower,
                                   int64_t* upper, int64_t* upper_of_team, int64_t* stride, int64_t increment,
                                   int64_t chunk) {
  dist_for_static_init(where, schedule, last, lower, upper, upper_of_team, stride, increment, chunk);
}

void __kmpc_dist_for_static_init_8u(Ident* where, int32_t, int32_t schedule, int32_t* last, uint64_t* lower,
                                    uint64_t* upper, uint64_t* upper_of_team, int64_t* stride, int64_t increment,
                                    int64_t chunk) {
  dist_for_static_init(where, schedule, last, lower, upper, upper_of_team, stride, increment, chunk);
}

void __kmpc_team_static_init_4(Ident*, int32_t, int32_t* last, int32_t* lower, int32_t* upper, int32_t* stride,
                               int32_t increment, int32_t chunk) {
  team_static_init(last, lower, upper, stride, increment, chunk);
}

void __kmpc_team_static_init_4u(Ident*, int32_t, int32_t* last, uint32_t* lower, uint32_t* upper, int32_t* stride,
                                int32_t increment, int32_t chunk) {
  team_static_init(last, lower, upper, stride, increment, chunk);
}

void __kmpc_team_static_init_8(Ident*, int32_t, int32_t* last, int64_t* lower, int64_t* upper, int64_t* stride,
                               int64_t increment, int64_t chunk) {
  team_static_init(last, lower, upper, stride, increment, chunk);
}

void __kmpc_team_static_init_8u(Ident*, int32_t, int32_t* last, uint64_t* lower, uint64_t* upper, int64_t* stride,
                                int64_t increment, int64_t chunk) {
  team_static_init(last, lower, upper, stride, increment, chunk);
}

void __kmpc_for_static_fini(Ident* where, int32_t) {
  announce_work(this_worker(), work_of(where), tool::Endpoint::kEnd, 0, __builtin_return_address(0));
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::kmp
