// SPDX-License-Identifier: Apache-2.0
//
// Enters a loop that GCC's arguments describe, and allocates once per team the memory that its `extras` ask for.
#include "abi/gomp/loop/loop.hpp"
#include "base/check.hpp"
#include "construct/task/task.hpp"
#include "construct/task/gcc_reduction.hpp"
#include "construct/task/task_reduction.hpp"
#include "construct/workshare/workshare.hpp"

namespace marline::gomp {

namespace {

void prepare(Worker* worker, Workshare* shared, bool first, void* context) {
  const auto* extras = static_cast<const Extras*>(context);
  if (extras->reductions != nullptr) {
    if (first) {
      gcc_reduction_allocate(extras->reductions, worker->member->team->size);
      shared->reductions = extras->reductions;
    } else {
      gcc_reduction_adopt(extras->reductions, static_cast<GccReduction*>(shared->reductions));
    }
    gcc_reduction_attach(worker, extras->reductions);
  }
  size_t bytes = extras->memory != nullptr ? reinterpret_cast<size_t>(*extras->memory) : 0;
  void* memory = nullptr;
  if (extras->doacross != nullptr) {
    memory = doacross_attach(worker, shared, first, *extras->doacross, bytes);
  } else if (extras->memory != nullptr) {
    memory = first ? workshare_memory(shared, bytes) : shared->memory;
  }
  if (extras->memory != nullptr) *extras->memory = memory;
}

}  // namespace

Schedule schedule_of(long schedule, long chunk, bool ordered) {
  constexpr long kMonotonic = 0x80000000L;
  switch (schedule & ~kMonotonic) {
    case 0: return {LoopKind::kRuntime, 0, ordered};
    case 1: return {LoopKind::kStatic, chunk, ordered};
    case 2: return {(schedule & kMonotonic) != 0 ? LoopKind::kDynamic : LoopKind::kAnyOrder, chunk, ordered};
    case 3: return {LoopKind::kGuided, chunk, ordered};
    case 4: return {LoopKind::kStatic, 0, ordered};  // auto
    default: fatal("a loop has schedule %ld, which Marline does not know; use another schedule clause", schedule);
  }
}

void begin(const Schedule& schedule, const Bounds& bounds, const Extras& extras, const void* codeptr) {
  bool special = extras.reductions != nullptr || extras.memory != nullptr || extras.doacross != nullptr;
  if (extras.reductions != nullptr) taskgroup_begin(this_worker(), codeptr, false);
  LoopRequest request{.kind = schedule.kind,
                      .chunk = schedule.chunk > 0 ? static_cast<uint64_t>(schedule.chunk) : 0,
                      .iterations = bounds.iterations,
                      .ordered = schedule.ordered,
                      .prepare = special ? prepare : nullptr,
                      .context = const_cast<Extras*>(&extras),
                      .work = schedule.work,
                      .codeptr = codeptr};
  (void)loop_begin(this_worker(), request);
  keep_bounds(this_worker()->member->loop, bounds);
}

}  // namespace marline::gomp
