/* SPDX-License-Identifier: Apache-2.0
 *
 * The strict modifiers of taskloop: exactly as many iterations in a task, or exactly as many tasks, as were asked for
 * (OpenMP 5.2, 12.6.1 and 12.6.2).
 *
 * Covers: taskloop(grainsize:strict, num_tasks:strict)
 */
#include "../check.h"
#include <omp.h>

enum { kIterations = 103 };

/* Iterations per task, at the index of its first. Each task begins with a copy of `first` of its own. */
static int sizes[kIterations];

static void count(int i, int* first) {
  if (*first < 0) *first = i;
  __atomic_fetch_add(&sizes[*first], 1, __ATOMIC_RELAXED);
}

static void expect_tasks(int tasks, int smallest, int largest) {
  int seen = 0, iterations = 0;
  for (int i = 0; i < kIterations; i++) {
    if (!sizes[i]) continue;
    seen++;
    iterations += sizes[i];
    int is_last = i + sizes[i] == kIterations;
    CHECK_RANGE(sizes[i], is_last ? 1 : smallest, largest);
  }
  CHECK_EQ(seen, tasks);
  CHECK_EQ(iterations, kIterations);
  memset(sizes, 0, sizeof sizes);
}

int main(void) {
#pragma omp parallel
#pragma omp single
  {
    int first = -1;
#pragma omp taskloop grainsize(strict : 10) firstprivate(first)
    for (int i = 0; i < kIterations; i++) count(i, &first);
    expect_tasks(11, 10, 10);
#pragma omp taskloop num_tasks(strict : 9) firstprivate(first)
    for (int i = 0; i < kIterations; i++) count(i, &first);
    expect_tasks(9, 11, 12);
  }
  return 0;
}
