/* SPDX-License-Identifier: Apache-2.0
 *
 * OMP_PROC_BIND=spread,close on a described machine of 2 x 4 cores (tests/programs/CMakeLists.txt): each thread of the
 * outer team has one domain, and its inner team the first places of that.
 *
 * Covers: omp_get_proc_bind, omp_get_num_places, omp_get_place_num, omp_get_partition_num_places,
 *  omp_get_partition_place_nums, OMP_PROC_BIND
 */
#include "../check.h"
#include <omp.h>

int main(void) {
  CHECK_EQ(omp_get_num_places(), 8);
  CHECK_EQ(omp_get_place_num(), 0); /* before any region of several threads, too */
#pragma omp parallel num_threads(1)
  {
    CHECK_EQ(omp_get_place_num(), 0);
    CHECK_EQ(omp_get_partition_num_places(), 8);
  }
  CHECK(omp_get_max_active_levels() > 1);
  for (int round = 0; round < 20; round++) {
    int size = 2 + round % 3;
#pragma omp parallel num_threads(2)
    {
      int outer = omp_get_thread_num();
      CHECK_EQ(omp_get_place_num(), 4 * outer);
      CHECK_EQ(omp_get_partition_num_places(), 4);
      CHECK_EQ(omp_get_proc_bind(), omp_proc_bind_close); /* of the next region */
#pragma omp parallel num_threads(size) firstprivate(outer)
      {
        int places[8];
        CHECK_EQ(omp_get_num_threads(), size);
        CHECK_EQ(omp_get_place_num(), 4 * outer + omp_get_thread_num());
        CHECK_EQ(omp_get_partition_num_places(), 4);
        omp_get_partition_place_nums(places);
        for (int i = 0; i < 4; i++) CHECK_EQ(places[i], 4 * outer + i);
      }
      CHECK_EQ(omp_get_place_num(), 4 * outer);
    }
  }
  return 0;
}
