// SPDX-License-Identifier: Apache-2.0
//
// Worksharing loops over `unsigned long long`, as GCC calls them: like the loops over `long`, with the direction in
// `up`.
#include "abi/gomp/loop/loop.hpp"

namespace marline::gomp {

using Ull = unsigned long long;

#pragma GCC visibility push(default)
extern "C" {

bool GOMP_loop_ull_static_start(bool up, Ull start, Ull end, Ull step, Ull chunk, Ull* istart, Ull* iend) {
  return begin_and_next({LoopKind::kStatic, static_cast<long>(chunk)}, bounds_ull(up, start, end, step), istart, iend);
}
bool GOMP_loop_ull_dynamic_start(bool up, Ull start, Ull end, Ull step, Ull chunk, Ull* istart, Ull* iend) {
  return begin_and_next({LoopKind::kDynamic, static_cast<long>(chunk)}, bounds_ull(up, start, end, step), istart, iend);
}
bool GOMP_loop_ull_guided_start(bool up, Ull start, Ull end, Ull step, Ull chunk, Ull* istart, Ull* iend) {
  return begin_and_next({LoopKind::kGuided, static_cast<long>(chunk)}, bounds_ull(up, start, end, step), istart, iend);
}
bool GOMP_loop_ull_nonmonotonic_dynamic_start(bool up, Ull start, Ull end, Ull step, Ull chunk, Ull* istart,
                                              Ull* iend) {
  return begin_and_next({LoopKind::kAnyOrder, static_cast<long>(chunk)}, bounds_ull(up, start, end, step), istart,
                        iend);
}
bool GOMP_loop_ull_nonmonotonic_guided_start(bool up, Ull start, Ull end, Ull step, Ull chunk, Ull* istart, Ull* iend) {
  return begin_and_next({LoopKind::kGuided, static_cast<long>(chunk)}, bounds_ull(up, start, end, step), istart, iend);
}
bool GOMP_loop_ull_runtime_start(bool up, Ull start, Ull end, Ull step, Ull* istart, Ull* iend) {
  return begin_and_next({LoopKind::kRuntime}, bounds_ull(up, start, end, step), istart, iend);
}
bool GOMP_loop_ull_nonmonotonic_runtime_start(bool up, Ull start, Ull end, Ull step, Ull* istart, Ull* iend) {
  return begin_and_next({LoopKind::kRuntime}, bounds_ull(up, start, end, step), istart, iend);
}
bool GOMP_loop_ull_maybe_nonmonotonic_runtime_start(bool up, Ull start, Ull end, Ull step, Ull* istart, Ull* iend) {
  return begin_and_next({LoopKind::kRuntime}, bounds_ull(up, start, end, step), istart, iend);
}
bool GOMP_loop_ull_ordered_static_start(bool up, Ull start, Ull end, Ull step, Ull chunk, Ull* istart, Ull* iend) {
  return begin_and_next({LoopKind::kStatic, static_cast<long>(chunk), true}, bounds_ull(up, start, end, step), istart,
                        iend);
}
bool GOMP_loop_ull_ordered_dynamic_start(bool up, Ull start, Ull end, Ull step, Ull chunk, Ull* istart, Ull* iend) {
  return begin_and_next({LoopKind::kDynamic, static_cast<long>(chunk), true}, bounds_ull(up, start, end, step), istart,
                        iend);
}
bool GOMP_loop_ull_ordered_guided_start(bool up, Ull start, Ull end, Ull step, Ull chunk, Ull* istart, Ull* iend) {
  return begin_and_next({LoopKind::kGuided, static_cast<long>(chunk), true}, bounds_ull(up, start, end, step), istart,
                        iend);
}
bool GOMP_loop_ull_ordered_runtime_start(bool up, Ull start, Ull end, Ull step, Ull* istart, Ull* iend) {
  return begin_and_next({LoopKind::kRuntime, 0, true}, bounds_ull(up, start, end, step), istart, iend);
}

bool GOMP_loop_ull_static_next(Ull* istart, Ull* iend) { return next(istart, iend); }

// The loop itself knows its schedule: the other names are the same function.
[[gnu::alias("GOMP_loop_ull_static_next")]] bool GOMP_loop_ull_dynamic_next(Ull* istart, Ull* iend);
[[gnu::alias("GOMP_loop_ull_static_next")]] bool GOMP_loop_ull_guided_next(Ull* istart, Ull* iend);
[[gnu::alias("GOMP_loop_ull_static_next")]] bool GOMP_loop_ull_nonmonotonic_dynamic_next(Ull* istart, Ull* iend);
[[gnu::alias("GOMP_loop_ull_static_next")]] bool GOMP_loop_ull_nonmonotonic_guided_next(Ull* istart, Ull* iend);
[[gnu::alias("GOMP_loop_ull_static_next")]] bool GOMP_loop_ull_runtime_next(Ull* istart, Ull* iend);
[[gnu::alias("GOMP_loop_ull_static_next")]] bool GOMP_loop_ull_nonmonotonic_runtime_next(Ull* istart, Ull* iend);
[[gnu::alias("GOMP_loop_ull_static_next")]] bool GOMP_loop_ull_maybe_nonmonotonic_runtime_next(Ull* istart, Ull* iend);
[[gnu::alias("GOMP_loop_ull_static_next")]] bool GOMP_loop_ull_ordered_static_next(Ull* istart, Ull* iend);
[[gnu::alias("GOMP_loop_ull_static_next")]] bool GOMP_loop_ull_ordered_dynamic_next(Ull* istart, Ull* iend);
[[gnu::alias("GOMP_loop_ull_static_next")]] bool GOMP_loop_ull_ordered_guided_next(Ull* istart, Ull* iend);
[[gnu::alias("GOMP_loop_ull_static_next")]] bool GOMP_loop_ull_ordered_runtime_next(Ull* istart, Ull* iend);

bool GOMP_loop_ull_start(bool up, Ull start, Ull end, Ull step, long schedule, Ull chunk, Ull* istart, Ull* iend,
                         uintptr_t* reductions, void** memory) {
  begin(schedule_of(schedule, static_cast<long>(chunk), false), bounds_ull(up, start, end, step), {reductions, memory});
  return istart == nullptr || next(istart, iend);
}

bool GOMP_loop_ull_ordered_start(bool up, Ull start, Ull end, Ull step, long schedule, Ull chunk, Ull* istart,
                                 Ull* iend, uintptr_t* reductions, void** memory) {
  begin(schedule_of(schedule, static_cast<long>(chunk), true), bounds_ull(up, start, end, step), {reductions, memory});
  return istart == nullptr || next(istart, iend);
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::gomp
