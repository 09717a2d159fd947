/* SPDX-License-Identifier: Apache-2.0
 *
 * With OMP_THREAD_LIMIT=4: the threads that remain after a region of four are there for the regions inside of a smaller
 * one.
 *
 * Covers: OMP_THREAD_LIMIT, parallel(num_threads), omp_set_max_active_levels
 */
#include "../check.h"
#include <omp.h>

static void two_in_two(void) {
  int leaves = 0;
#pragma omp parallel num_threads(2) reduction(+ : leaves)
  {
    CHECK_EQ(omp_get_num_threads(), 2);
#pragma omp barrier
#pragma omp parallel num_threads(2) reduction(+ : leaves)
    {
      CHECK_EQ(omp_get_num_threads(), 2);
      leaves++;
    }
  }
  CHECK_EQ(leaves, 4);
}

static void flat(int threads) {
  int members = 0;
#pragma omp parallel num_threads(threads) reduction(+ : members)
  {
    CHECK_EQ(omp_get_num_threads(), threads);
    members++;
  }
  CHECK_EQ(members, threads);
}

int main(void) {
  CHECK_EQ(omp_get_thread_limit(), 4);
  omp_set_dynamic(0);
  omp_set_max_active_levels(4);
  for (int round = 0; round < 100; round++) {
    flat(4);
    two_in_two();
    flat(3);
    two_in_two();
    flat(2);
  }
  return 0;
}
