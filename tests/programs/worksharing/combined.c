/* SPDX-License-Identifier: Apache-2.0
 *
 * Combined constructs do what their parts do, one after the other: who runs the body, and how often.
 *
 * Covers: parallel master, master taskloop, parallel master taskloop, parallel sections, parallel for, for(nowait)
 * Covers (gcc, clang19): parallel masked
 * Covers (gcc): masked taskloop, parallel masked taskloop
 */
#include "../check.h"
#include <omp.h>

enum { kIterations = 100, kSum = kIterations * (kIterations - 1) / 2 };

static void the_primary_thread(void) {
  int runs = 0;
#pragma omp parallel master
  {
    runs++;
    CHECK_EQ(omp_get_thread_num(), 0);
    CHECK_EQ(omp_get_level(), 1);
  }
  CHECK_EQ(runs, 1);
}

static void its_tasks(void) {
  int sum = 0, after = 0;
#pragma omp parallel shared(sum, after)
  {
#pragma omp master taskloop reduction(+ : sum) grainsize(5)
    for (int i = 0; i < kIterations; i++) sum += i;
#pragma omp barrier
    CHECK_EQ(sum, kSum);
#pragma omp atomic
    after++;
  }
  CHECK(after >= 1);
  sum = 0;
#pragma omp parallel master taskloop reduction(+ : sum) num_tasks(9)
  for (int i = 0; i < kIterations; i++) sum += i;
  CHECK_EQ(sum, kSum);
}

#if !defined __clang__ || __clang_major__ >= 19
static void the_masked_thread(void) {
  int runs = 0, team = 0;
#pragma omp parallel
#pragma omp single
  team = omp_get_num_threads();
#pragma omp parallel masked filter(team - 1)
  {
    runs++;
    CHECK_EQ(omp_get_thread_num(), team - 1);
  }
  CHECK_EQ(runs, 1);
#ifndef __clang__ /* Clang 19 makes no code of these */
  int sum = 0;
#pragma omp parallel shared(sum)
  {
#pragma omp masked taskloop filter(team - 1) reduction(+ : sum)
    for (int i = 0; i < kIterations; i++) sum += i;
  }
  CHECK_EQ(sum, kSum);
  sum = 0;
#pragma omp parallel masked taskloop reduction(+ : sum)
  for (int i = 0; i < kIterations; i++) sum += i;
  CHECK_EQ(sum, kSum);
#endif
}
#else
static void the_masked_thread(void) {}
#endif

static void loops_and_sections(void) {
  int sum = 0, first = 0, second = 0;
#pragma omp parallel for reduction(+ : sum) schedule(guided) num_threads(3)
  for (int i = 0; i < kIterations; i++) sum += i;
  CHECK_EQ(sum, kSum);
#pragma omp parallel sections
  {
#pragma omp section
    first++;
#pragma omp section
    second++;
  }
  CHECK_EQ(first, 1);
  CHECK_EQ(second, 1);
  sum = 0;
#pragma omp parallel shared(sum)
  {
#pragma omp for nowait
    for (int i = 0; i < kIterations; i++) {
#pragma omp atomic
      sum += i;
    }
  }
  CHECK_EQ(sum, kSum);
}

int main(void) {
  the_primary_thread();
  its_tasks();
  the_masked_thread();
  loops_and_sections();
  return 0;
}
