/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints which runtime serves an OpenMP driver. Compiled by the driver's own compiler, because it looks up the entry
 * point that this compiler calls.
 */
#ifndef MARLINE_TASKBENCH_OMP_H
#define MARLINE_TASKBENCH_OMP_H

#include <omp.h>

#include "driver.h"

static inline void omp_print_runtime(void) {
#ifdef __clang__
  extern void __kmpc_fork_call(void);
  print_library("runtime", (const void*)__kmpc_fork_call);
#else
  extern void GOMP_parallel(void);
  print_library("runtime", (const void*)GOMP_parallel);
#endif
}

#endif
