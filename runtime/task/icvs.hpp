// SPDX-License-Identifier: Apache-2.0
//
// Internal control variables with task scope (OpenMP 5.2, section 2.1): a task shares its parent's variables until it
// sets one (copy on write, task/own_icvs.hpp), so creating a task copies one pointer. Variables with global scope are
// in config/options.hpp.
#pragma once

#include "config/options.hpp"

#include <cstdint>

namespace marline {

struct Icvs {
  int32_t num_threads;        // nthreads-var, first element
  int32_t max_active_levels;  // max-active-levels-var
  LoopSchedule run_sched_kind;
  int32_t run_sched_chunk;  // 0: none given
  int32_t default_device;
  int32_t thread_limit;
  uintptr_t allocator;       // def-allocator-var, an omp_allocator_handle_t
  bool dynamic;              // dyn-var
  bool run_sched_monotonic;  // the modifier's bit, 0x80000000
  // Regions without a num_threads clause have one thread, whatever `num_threads` is
  // (construct/device/short_kernels.hpp).
  bool one_thread = false;
  // bind-var as a surrounding proc_bind clause of GCC's code has set it (construct/parallel/parallel.cpp), as ProcBind;
  // 0: OMP_PROC_BIND's element for the level applies.
  int8_t clause_bind = 0;
  int32_t team_num = 0;   // in a teams region (construct/parallel/teams.hpp): the team's number in the league
  int32_t num_teams = 1;  // in a teams region: the number of teams
  // In a target region that a library runs for a device (marline_target_region_run): the device's number; otherwise
  // kNoDevice.
  static constexpr int32_t kNoDevice = -1;
  int32_t device_num = kNoDevice;
};

}  // namespace marline
