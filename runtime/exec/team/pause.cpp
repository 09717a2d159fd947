// SPDX-License-Identifier: Apache-2.0
//
// Ends the threads that the runtime keeps, for omp_pause_resource.
#include "exec/team/pause.hpp"

#include "exec/team/team.hpp"
#include "exec/worker/worker.hpp"

namespace marline {

namespace {

constexpr int kResume = 0, kSoft = 1, kHard = 2;  // omp_pause_resource_t; LLVM's omp.h has `resume`, too

}  // namespace

// Ends the threads that this thread keeps for its next region, and all threads without a team. Their threadprivate
// variables need not persist (OpenMP 5.1, section 2.21.2). Refused inside a region, where the threads are at work.
// Refused also while another task of this thread waits inside a region, though the current task is outside of it.
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
