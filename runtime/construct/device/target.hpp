// SPDX-License-Identifier: Apache-2.0
//
// Target regions on the host (OpenMP 5.2, section 13.8). The thread that encounters the construct, or that runs its
// task, runs the region as the initial task of a new team. Whatever regions surround the construct, inside it there is
// one thread, at level 0, with the initial control variables. A parallel construct in the region gets its own threads.
#pragma once

#include "sched/team.hpp"

namespace marline {

struct TargetRegion {
  void (*body)(void*);
  void* data;
  int thread_limit = 0;          // from the clause; 0: none
  int device = Icvs::kNoDevice;  // the result of omp_get_device_num; kNoDevice: the host's
  uint64_t kernel = 0;  // the kernel's code address, for construct/device/short_kernels.hpp; 0: always use all threads
};

// Runs the region, and waits for the tasks that it creates.
void target_region(Worker* worker, const TargetRegion& region);

// A teams construct in a target region: the region's thread runs all teams, one after the other. league_begin starts
// with the first team. league_next_team: false: the last team has ended.
void league_begin(Worker* worker, int teams, int thread_limit);
[[nodiscard]] bool league_next_team(Worker* worker);

}  // namespace marline
