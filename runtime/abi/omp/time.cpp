// SPDX-License-Identifier: Apache-2.0
//
// Timing routines (OpenMP 5.1, section 3.10). Stateless.
#include "base/clock.hpp"

#include <ctime>

namespace marline::omp {

#pragma GCC visibility push(default)
extern "C" {

double omp_get_wtime() { return wtime(); }
[[gnu::alias("omp_get_wtime")]] double omp_get_wtime_();

double omp_get_wtick() {
  timespec resolution;
  clock_getres(CLOCK_MONOTONIC, &resolution);
  return static_cast<double>(resolution.tv_sec) + static_cast<double>(resolution.tv_nsec) * 1e-9;
}
[[gnu::alias("omp_get_wtick")]] double omp_get_wtick_();

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::omp
