// SPDX-License-Identifier: Apache-2.0
//
// sections and scope, as GCC calls them. Sections are the iterations of a dynamic loop, numbered from 1. A result of 0
// means that no section is left.
#include "abi/gomp/loop/loop.hpp"
#include "construct/workshare/workshare.hpp"
#include "exec/team/barrier.hpp"
#include "exec/worker/announce.hpp"

namespace marline::gomp {

#pragma GCC visibility push(default)
extern "C" {

unsigned GOMP_sections_next() {
  uint64_t section = 0;
  uint64_t end;
  return next(&section, &end) ? static_cast<unsigned>(section) : 0;
}

unsigned GOMP_sections_start(unsigned count) {
  (void)begin(kSections, bounds_ull(true, 1, count + 1ull, 1));
  return GOMP_sections_next();
}

unsigned GOMP_sections2_start(unsigned count, uintptr_t* reductions, void** memory) {
  begin(kSections, bounds_ull(true, 1, count + 1ull, 1), {reductions, memory});
  return GOMP_sections_next();
}

void GOMP_sections_end_nowait() { loop_leave(this_worker()); }

void GOMP_sections_end() {
  loop_leave(this_worker());
  team_barrier(this_worker(), tool::SyncRegion::kBarrierImplicitWorkshare, __builtin_return_address(0));
}

// A scope with task reductions: a loop without iterations, that the thread leaves as soon as it has the memory.
void GOMP_scope_start(uintptr_t* reductions) {
  begin({LoopKind::kDynamic, 1, false, tool::Work::kNone}, {}, {reductions, nullptr});
  loop_leave(this_worker());
  if (tool::on(tool::event::kWork)) {
    announce_work_without_end(this_worker(), tool::Work::kScope, __builtin_return_address(0));
  }
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::gomp
