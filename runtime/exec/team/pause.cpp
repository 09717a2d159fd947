// SPDX-License-Identifier: Apache-2.0
//
// See the header.
#include "exec/team/pause.hpp"

#include "exec/team/team.hpp"
#include "exec/worker/worker.hpp"

namespace marline {

namespace {

constexpr int kResume = 0, kSoft = 1, kHard = 2;  // omp_pause_resource_t; LLVM's omp.h has `resume`, too

}  // namespace

// The threads that this thread keeps for its next region end, and with them all that have no team: what they had in
// threadprivate variables need not persist (OpenMP 5.1, section 2.21.2). Not inside a region: they are at work.
// Nor beside one: another task of this thread may wait in a region while this one, outside of it, runs.
int pause_resources(int kind) {
  if (kind == kResume) return 0;
  Worker* worker = this_worker();
  if ((kind != kSoft && kind != kHard) || !worker->root || worker->member->team->level != 0) return 1;
  if (worker->nesting.open_inner != 0 || (worker->hot_team != nullptr && worker->hot_team->in_use)) return 1;
  team_dissolve(worker);
  retire_idle_workers();
  return 0;
}

}  // namespace marline
