/* SPDX-License-Identifier: Apache-2.0
 *
 * What Clang 22 knows of OpenMP 6.0: which threads may run a task, assumptions about a block, a number of threads that
 * is to be kept, and loop transformations. Free agents, which run tasks with threadset(omp_pool) outside of
 * their team, have a program of their own (task/free_agents.c).
 *
 * Covers: assume(holds, no_openmp, no_parallelism)
 */
#include "../check.h"
#include <omp.h>

enum { kTasks = 100 };

static void threadset(void) {
  int runs[kTasks] = {0}, strangers = 0, team = 0;
#pragma omp parallel
#pragma omp single
  {
    team = omp_get_num_threads();
    for (int i = 0; i < kTasks / 2; i++) {
#pragma omp task threadset(omp_pool) shared(runs, strangers)
      {
        runs[2 * i]++;
        if (omp_get_num_threads() != team) {
#pragma omp atomic
          strangers++;
        }
      }
#pragma omp task threadset(omp_team) shared(runs)
      runs[2 * i + 1]++;
    }
#pragma omp taskwait
#pragma omp taskloop threadset(omp_pool) shared(runs) grainsize(7)
    for (int i = 0; i < kTasks; i++) runs[i]++;
  }
  for (int i = 0; i < kTasks; i++) CHECK_EQ(runs[i], 2);
  CHECK_EQ(strangers, 0);
}

static void assumptions(int positive) {
  int sum = 0;
#pragma omp assume no_openmp no_parallelism holds(positive > 0)
  {
    for (int i = 0; i < positive; i++) sum += i;
  }
  CHECK_EQ(sum, positive * (positive - 1) / 2);
}

static void strict_number_of_threads(void) {
  int size = 0;
#pragma omp parallel num_threads(strict : 2) severity(warning) message("fewer than two threads")
#pragma omp single
  size = omp_get_num_threads();
  CHECK_EQ(size, 2);
}

static void loops(void) {
  int seen[12], k = 0;
#pragma omp reverse
  for (int i = 0; i < 6; i++) seen[k++] = i;
  CHECK_EQ(seen[0], 5);
  CHECK_EQ(seen[5], 0);
  k = 0;
#pragma omp interchange
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) seen[k++] = 10 * i + j;
  CHECK_EQ(seen[1], 10);
  CHECK_EQ(seen[3], 1);
  k = 0;
#pragma omp stripe sizes(2)
  for (int i = 0; i < 6; i++) seen[k++] = i;
  CHECK_EQ(k, 6);
}

int main(void) {
  threadset();
  assumptions(omp_get_max_threads());
  strict_number_of_threads();
  loops();
  return 0;
}
