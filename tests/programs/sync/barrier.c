/* SPDX-License-Identifier: Apache-2.0
 *
 * Barriers: no thread passes before all have come, what was written before is seen after, tasks created before a
 * barrier have ended after it (also tasks that tasks create), and team sizes may change from region to region.
 *
 * Covers: parallel(num_threads), task(firstprivate), barrier
 */
#include "../check.h"
#include <omp.h>

enum { kRounds = 200, kMaxTeam = 64 };

static void phases(int n) {
  int stage[kMaxTeam] = {0};
#pragma omp parallel num_threads(n) shared(stage)
  {
    int me = omp_get_thread_num();
    for (int r = 1; r <= kRounds; r++) {
      stage[me] = r;
#pragma omp barrier
      for (int t = 0; t < n; t++) CHECK_EQ(stage[t], r);
#pragma omp barrier
    }
  }
}

static void create_tree(int depth, long* leaves) {
  if (depth == 0) {
#pragma omp atomic
    (*leaves)++;
    return;
  }
  for (int child = 0; child < 2; child++) {
#pragma omp task firstprivate(depth, leaves)
    create_tree(depth - 1, leaves);
  }
}

static void tasks_end_before_a_barrier_does(int n) {
  long leaves = 0;
#pragma omp parallel num_threads(n) shared(leaves)
  for (int r = 1; r <= 10; r++) {
    create_tree(5, &leaves);
#pragma omp barrier
    CHECK_EQ(leaves, 32L * n * r);
#pragma omp barrier
  }
  CHECK_EQ(leaves, 320L * n);
}

/* The implicit barrier of a region waits for tasks that only one late thread creates. */
static void tasks_of_a_late_thread(int n) {
  long leaves = 0;
#pragma omp parallel num_threads(n) shared(leaves)
  if (omp_get_thread_num() == n - 1) {
    usleep(1000);
    create_tree(6, &leaves);
  }
  CHECK_EQ(leaves, 64);
}

int main(void) {
  omp_set_dynamic(0);
  int n = omp_get_max_threads();
  const int sizes[] = {n, 1, 2, n, 3, 5, n};
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    phases(sizes[i]);
    tasks_end_before_a_barrier_does(sizes[i]);
    tasks_of_a_late_thread(sizes[i]);
  }
  return 0;
}
