/* SPDX-License-Identifier: Apache-2.0
 *
 * Regions in regions, twenty deep: each has the threads that it asks for, as long as OMP_MAX_ACTIVE_LEVELS allows.
 *
 * Covers: OMP_MAX_ACTIVE_LEVELS, omp_get_active_level, omp_get_ancestor_thread_num, omp_get_team_size
 */
#include "../check.h"
#include <omp.h>

static int depth;

static int descend(int level) {
  int leaves = 0;
  if (level == depth) return 1;
#pragma omp parallel num_threads(2) reduction(+ : leaves)
  {
    CHECK_EQ(omp_get_num_threads(), 2);
    CHECK_EQ(omp_get_active_level(), level + 1);
    CHECK_EQ(omp_get_team_size(level + 1), 2);
    if (level > 0) CHECK_EQ(omp_get_ancestor_thread_num(level), level % 2);
    leaves = omp_get_thread_num() == (level + 1) % 2 ? descend(level + 1) : 1;
  }
  return leaves;
}

int main(void) {
  depth = omp_get_max_active_levels();
  CHECK_EQ(depth, 20);
  omp_set_dynamic(0);
  for (int round = 0; round < 10; round++) {
    CHECK_EQ(descend(0), depth + 1);
#pragma omp parallel num_threads(4)
    CHECK_EQ(omp_get_num_threads(), 4);
  }
  return 0;
}
