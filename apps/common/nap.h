/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel that takes time but no processor, so that a machine with few cores can time many devices. No state.
 */
#ifndef MARLINE_APPS_COMMON_NAP_H
#define MARLINE_APPS_COMMON_NAP_H

#if defined(__NVPTX__) || defined(__AMDGCN__) /* no system call to sleep; the processor serves this kernel only */
#include <omp.h>
#else
#include <errno.h>
#include <time.h>

#include "turn.h"
#endif

#pragma omp declare target

#if defined(__NVPTX__) || defined(__AMDGCN__)
static inline void nap_for(double milliseconds) {
  const double end = omp_get_wtime() + 1e-3 * milliseconds;
  while (omp_get_wtime() < end) {
  }
}

static inline void nap(double milliseconds, int device) {
  (void)device;
  nap_for(milliseconds);
}
#else
static inline void nap_for(double milliseconds) {
  const long long nanoseconds = (long long)(1e6 * milliseconds);
  struct timespec left = {(time_t)(nanoseconds / 1000000000), (long)(nanoseconds % 1000000000)};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

/* For kernels: the kernels of one device sleep one after another. */
static inline void nap(double milliseconds, int device) {
  turn_begin(device);
  nap_for(milliseconds);
  turn_end(device);
}
#endif

#pragma omp end declare target

#endif
