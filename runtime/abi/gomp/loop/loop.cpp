// SPDX-License-Identifier: Apache-2.0
//
// Worksharing loops over `long`, ordered, and loop ends without cancellation, as GCC calls them. `istart` and `iend`
// receive a chunk; false: no chunk is left.
#include "abi/gomp/loop/loop.hpp"
#include "abi/gomp/parallel.hpp"
#include "exec/team/barrier.hpp"

namespace marline::gomp {

#pragma GCC visibility push(default)
extern "C" {

bool GOMP_loop_static_start(long start, long end, long step, long chunk, long* istart, long* iend) {
  return begin_and_next({LoopKind::kStatic, chunk}, bounds(start, end, step), istart, iend);
}
bool GOMP_loop_dynamic_start(long start, long end, long step, long chunk, long* istart, long* iend) {
  return begin_and_next({LoopKind::kDynamic, chunk}, bounds(start, end, step), istart, iend);
}
bool GOMP_loop_guided_start(long start, long end, long step, long chunk, long* istart, long* iend) {
  return begin_and_next({LoopKind::kGuided, chunk}, bounds(start, end, step), istart, iend);
}
bool GOMP_loop_nonmonotonic_dynamic_start(long start, long end, long step, long chunk, long* istart, long* iend) {
  return begin_and_next({LoopKind::kAnyOrder, chunk}, bounds(start, end, step), istart, iend);
}
bool GOMP_loop_nonmonotonic_guided_start(long start, long end, long step, long chunk, long* istart, long* iend) {
  return begin_and_next({LoopKind::kGuided, chunk}, bounds(start, end, step), istart, iend);
}
bool GOMP_loop_runtime_start(long start, long end, long step, long* istart, long* iend) {
  return begin_and_next({LoopKind::kRuntime}, bounds(start, end, step), istart, iend);
}
bool GOMP_loop_nonmonotonic_runtime_start(long start, long end, long step, long* istart, long* iend) {
  return begin_and_next({LoopKind::kRuntime}, bounds(start, end, step), istart, iend);
}
bool GOMP_loop_maybe_nonmonotonic_runtime_start(long start, long end, long step, long* istart, long* iend) {
  return begin_and_next({LoopKind::kRuntime}, bounds(start, end, step), istart, iend);
}
bool GOMP_loop_ordered_static_start(long start, long end, long step, long chunk, long* istart, long* iend) {
  return begin_and_next({LoopKind::kStatic, chunk, true}, bounds(start, end, step), istart, iend);
}
bool GOMP_loop_ordered_dynamic_start(long start, long end, long step, long chunk, long* istart, long* iend) {
  return begin_and_next({LoopKind::kDynamic, chunk, true}, bounds(start, end, step), istart, iend);
}
bool GOMP_loop_ordered_guided_start(long start, long end, long step, long chunk, long* istart, long* iend) {
  return begin_and_next({LoopKind::kGuided, chunk, true}, bounds(start, end, step), istart, iend);
}
bool GOMP_loop_ordered_runtime_start(long start, long end, long step, long* istart, long* iend) {
  return begin_and_next({LoopKind::kRuntime, 0, true}, bounds(start, end, step), istart, iend);
}

bool GOMP_loop_static_next(long* istart, long* iend) { return next(istart, iend); }

// The loop itself knows its schedule: the other names are the same function.
[[gnu::alias("GOMP_loop_static_next")]] bool GOMP_loop_dynamic_next(long* istart, long* iend);
[[gnu::alias("GOMP_loop_static_next")]] bool GOMP_loop_guided_next(long* istart, long* iend);
[[gnu::alias("GOMP_loop_static_next")]] bool GOMP_loop_nonmonotonic_dynamic_next(long* istart, long* iend);
[[gnu::alias("GOMP_loop_static_next")]] bool GOMP_loop_nonmonotonic_guided_next(long* istart, long* iend);
[[gnu::alias("GOMP_loop_static_next")]] bool GOMP_loop_runtime_next(long* istart, long* iend);
[[gnu::alias("GOMP_loop_static_next")]] bool GOMP_loop_nonmonotonic_runtime_next(long* istart, long* iend);
[[gnu::alias("GOMP_loop_static_next")]] bool GOMP_loop_maybe_nonmonotonic_runtime_next(long* istart, long* iend);
[[gnu::alias("GOMP_loop_static_next")]] bool GOMP_loop_ordered_static_next(long* istart, long* iend);
[[gnu::alias("GOMP_loop_static_next")]] bool GOMP_loop_ordered_dynamic_next(long* istart, long* iend);
[[gnu::alias("GOMP_loop_static_next")]] bool GOMP_loop_ordered_guided_next(long* istart, long* iend);
[[gnu::alias("GOMP_loop_static_next")]] bool GOMP_loop_ordered_runtime_next(long* istart, long* iend);

bool GOMP_loop_start(long start, long end, long step, long schedule, long chunk, long* istart, long* iend,
                     uintptr_t* reductions, void** memory) {
  begin(schedule_of(schedule, chunk, false), bounds(start, end, step), {reductions, memory});
  return istart == nullptr || next(istart, iend);
}

bool GOMP_loop_ordered_start(long start, long end, long step, long schedule, long chunk, long* istart, long* iend,
                             uintptr_t* reductions, void** memory) {
  begin(schedule_of(schedule, chunk, true), bounds(start, end, step), {reductions, memory});
  return istart == nullptr || next(istart, iend);
}

void GOMP_loop_end_nowait() { loop_leave(this_worker()); }

void GOMP_loop_end() {
  loop_leave(this_worker());
  team_barrier(this_worker(), tool::SyncRegion::kBarrierImplicitWorkshare, __builtin_return_address(0));
}

void GOMP_ordered_start() { ordered_begin(this_worker()); }
void GOMP_ordered_end() { ordered_end(this_worker()); }

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::gomp
