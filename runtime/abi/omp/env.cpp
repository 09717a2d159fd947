// SPDX-License-Identifier: Apache-2.0
//
// omp_display_env (OpenMP 5.1, section 3.15) and resource release (section 3.6). Any thread.
#include "abi/omp/current.hpp"
#include "config/show_options.hpp"
#include "exec/team/pause.hpp"

extern "C" int omp_get_initial_device();

namespace marline::omp {

namespace {

constexpr int kInitialDevice = -1;  // omp_initial_device

int pause_on(int kind, int device) {
  return device == kInitialDevice || device == omp_get_initial_device() ? pause_resources(kind) : 1;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void omp_display_env(int verbose) { options_display(verbose != 0); }
void omp_display_env_(const int32_t* verbose) { options_display(*verbose != 0); }
void omp_display_env_8_(const int64_t* verbose) { options_display(*verbose != 0); }

int omp_pause_resource(int kind, int device) { return pause_on(kind, device); }
int omp_pause_resource_(const int32_t* kind, const int32_t* device) { return pause_on(*kind, *device); }
int kmp_pause_resource_8(int kind, int64_t device) { return pause_on(kind, nearest_int(device)); }
int kmp_pause_resource_8_(const int32_t* kind, const int64_t* device) { return pause_on(*kind, nearest_int(*device)); }
int omp_pause_resource_all(int kind) { return pause_resources(kind); }
int omp_pause_resource_all_(const int32_t* kind) { return pause_resources(*kind); }

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::omp
