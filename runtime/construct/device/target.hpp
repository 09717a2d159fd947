// SPDX-License-Identifier: Apache-2.0
//
// Target regions on the host (OpenMP 5.2, section 13.8): the thread that encounters the construct, or runs its task,
// runs the region as the initial task of a team of its own. Whatever regions surround the construct, inside it there is
// one thread, at level 0, with the initial control variables. A parallel construct in it gets threads of its own.
#pragma once

#include "sched/team.hpp"

namespace marline {

struct TargetRegion {
  void (*body)(void*);
  void* data;
  int thread_limit = 0;          // of the clause; 0: none
  int device = Icvs::kNoDevice;  // that omp_get_device_num returns; kNoDevice: the host's
  uint64_t kernel = 0;  // the address of its code, for construct/device/short_kernels.hpp; 0: keeps its threads
};

// Runs the region, and waits for the tasks that it has created.
void target_region(Worker* worker, const TargetRegion& region);

// A teams construct in a target region: its thread is that of all teams, one after the other. Begins with the first
// one; false: the last one has ended.
void league_begin(Worker* worker, int teams, int thread_limit);
[[nodiscard]] bool league_next_team(Worker* worker);

}  // namespace marline
