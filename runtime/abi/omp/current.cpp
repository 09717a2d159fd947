// SPDX-License-Identifier: Apache-2.0
//
// Finds the member and the control variables of threads outside of regions.
#include "abi/omp/current.hpp"

#include "exec/worker/runtime.hpp"
#include "exec/worker/worker.hpp"
#include "sched/library_call.hpp"

namespace marline {

namespace {

Team g_outside_team;
Member g_outside_member;

// Runs while the library is loaded: before the first signal.
[[gnu::constructor]] void join_outside_team() {
  g_outside_member.team = &g_outside_team;
  g_outside_team.members = &g_outside_member;
}

}  // namespace

const Member* outside_member() { return &g_outside_member; }

int current_active_level() {
  const Worker* worker = acting_worker();
  const Member* member = worker != nullptr ? worker->member : nullptr;
  return member != nullptr ? member->team->active_level : 0;
}

Icvs outside_icvs() {
  const Worker* caller = library_caller();
  const Member* member = caller != nullptr ? caller->member : nullptr;
  if (caller != nullptr && caller->task != nullptr) return *caller->task->icvs;
  if (member != nullptr) return *member->implicit_task.icvs;
  settle_options();
  return initial_icvs();
}

}  // namespace marline
