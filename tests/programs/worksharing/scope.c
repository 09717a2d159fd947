/* SPDX-License-Identifier: Apache-2.0
 *
 * scope: every thread of the team runs it, with private copies and reductions, and a barrier at its end or not.
 *
 * Covers: scope(private, reduction, nowait)
 */
#include "../check.h"
#include <omp.h>

int main(void) {
  int threads = 0, team = 0, scratch = 3, arrived = 0;
#pragma omp parallel shared(threads, scratch, arrived)
  {
#pragma omp single
    team = omp_get_num_threads();
#pragma omp scope private(scratch) reduction(+ : threads)
    {
      scratch = omp_get_thread_num();
      threads++;
    }
    CHECK_EQ(threads, omp_get_num_threads()); /* the scope's barrier: all have contributed */
#pragma omp scope nowait
    {
#pragma omp atomic
      arrived++;
    }
#pragma omp barrier
    CHECK_EQ(arrived, omp_get_num_threads());
  }
  CHECK_EQ(threads, team);
  CHECK_EQ(scratch, 3);
  return 0;
}
