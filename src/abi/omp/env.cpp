// SPDX-License-Identifier: Apache-2.0
//
// omp_display_env (OpenMP 5.1, section 3.15) and resource release (section 3.6). Any thread.
#include "abi/omp/current.hpp"
#include "config/options.hpp"
#include "exec/team.hpp"

namespace marline::omp {

namespace {

constexpr int kResume = 0, kSoft = 1, kHard = 2;  // omp_pause_resource_t; LLVM's omp.h has `resume`, too

// Gives the threads that this thread keeps for its next region back to the pool. Not inside a region: they are at work.
int pause(int kind) {
  if (kind == kResume) return 0;
  Worker* worker = this_worker();
  if ((kind != kSoft && kind != kHard) || !worker->root || worker->member->team->level != 0) return 1;
  team_dissolve(worker);
  return 0;
}

constexpr int kHost = 0, kInitialDevice = -1;
int pause_on(int kind, int device) { return device == kHost || device == kInitialDevice ? pause(kind) : 1; }

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void omp_display_env(int verbose) { options_display(verbose != 0); }
void omp_display_env_(const int32_t* verbose) { options_display(*verbose != 0); }
void omp_display_env_8_(const int64_t* verbose) { options_display(*verbose != 0); }

int omp_pause_resource(int kind, int device) { return pause_on(kind, device); }
int omp_pause_resource_(const int32_t* kind, const int32_t* device) { return pause_on(*kind, *device); }
int omp_pause_resource_all(int kind) { return pause(kind); }
int omp_pause_resource_all_(const int32_t* kind) { return pause(*kind); }

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::omp
