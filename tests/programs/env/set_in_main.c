/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that sets variables before its first use of OpenMP: they hold, as with LLVM's runtime; later ones do not.
 *
 * Covers: omp_get_max_threads, omp_get_schedule, OMP_NUM_THREADS, OMP_SCHEDULE
 */
#include "../check.h"
#include <omp.h>

int main(void) {
  setenv("OMP_NUM_THREADS", "3", 1);
  setenv("OMP_SCHEDULE", "guided,5", 1);
  omp_sched_t kind;
  int chunk, threads = 0;
  CHECK_EQ(omp_get_max_threads(), 3);
  omp_get_schedule(&kind, &chunk);
  CHECK_EQ(kind & ~omp_sched_monotonic, omp_sched_guided);
  CHECK_EQ(chunk, 5);
  setenv("OMP_NUM_THREADS", "2", 1);
#pragma omp parallel
#pragma omp single
  threads = omp_get_num_threads();
  CHECK_EQ(threads, 3);
  return 0;
}
