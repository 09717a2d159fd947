/* SPDX-License-Identifier: Apache-2.0
 *
 * Nested regions with the default max-active-levels-var of 1: the inner region is serialised, but it is a region: it
 * has a level, ancestors, and every construct works in it. An inactive outer region does not use up the one active
 * level (OpenMP 5.1, 2.6.1).
 *
 * Covers: parallel(if, num_threads, firstprivate, reduction), for(schedule:dynamic, ordered), ordered, sections,
 *  section, single, task, taskwait, barrier, omp_in_parallel, omp_set_max_active_levels, omp_get_max_active_levels,
 *  omp_get_level, omp_get_ancestor_thread_num, omp_get_team_size, omp_get_active_level
 */
#include "../check.h"
#include <omp.h>

static void constructs_of_a_team_of_one(void) {
  int sum = 0, single = 0, sections = 0, tasks = 0, loop = 0;
#pragma omp barrier
#pragma omp single
  single++;
#pragma omp sections
  {
    sections++;
#pragma omp section
    sections++;
  }
#pragma omp for schedule(dynamic, 2)
  for (int i = 0; i < 10; i++) sum += i;
#pragma omp for ordered
  for (int i = 0; i < 5; i++) {
#pragma omp ordered
    {
      CHECK_EQ(loop, i);
      loop++;
    }
  }
#pragma omp task shared(tasks)
  tasks++;
#pragma omp taskwait
  CHECK_EQ(single, 1);
  CHECK_EQ(sections, 2);
  CHECK_EQ(sum, 45);
  CHECK_EQ(loop, 5);
  CHECK_EQ(tasks, 1);
}

static void inner_levels(int n, int outer) {
  CHECK_EQ(omp_get_num_threads(), 1);
  CHECK_EQ(omp_get_thread_num(), 0);
  CHECK_EQ(omp_get_level(), 2);
  CHECK_EQ(omp_get_active_level(), 1);
  CHECK_EQ(omp_in_parallel(), 1);
  CHECK_EQ(omp_get_ancestor_thread_num(0), 0);
  CHECK_EQ(omp_get_ancestor_thread_num(1), outer);
  CHECK_EQ(omp_get_ancestor_thread_num(2), 0);
  CHECK_EQ(omp_get_ancestor_thread_num(3), -1);
  CHECK_EQ(omp_get_ancestor_thread_num(-1), -1);
  CHECK_EQ(omp_get_team_size(0), 1);
  CHECK_EQ(omp_get_team_size(1), n);
  CHECK_EQ(omp_get_team_size(2), 1);
  CHECK_EQ(omp_get_team_size(3), -1);
}

static void serialised(int n) {
  int inner_runs = 0;
#pragma omp parallel num_threads(n)
  {
    int outer = omp_get_thread_num();
    for (int round = 0; round < 20; round++) {
#pragma omp parallel num_threads(4) firstprivate(outer)
      {
        inner_levels(n, outer);
        constructs_of_a_team_of_one();
#pragma omp parallel num_threads(2)
        {
          CHECK_EQ(omp_get_level(), 3);
          CHECK_EQ(omp_get_num_threads(), 1);
          CHECK_EQ(omp_get_ancestor_thread_num(1), outer);
        }
        CHECK_EQ(omp_get_level(), 2);
#pragma omp atomic
        inner_runs++;
      }
      CHECK_EQ(omp_get_level(), 1);
      CHECK_EQ(omp_get_thread_num(), outer);
      CHECK_EQ(omp_get_num_threads(), n);
    }
  }
  CHECK_EQ(inner_runs, 20 * n);
}

static void region_inside_a_task(int n) {
  int done = 0;
#pragma omp parallel num_threads(n)
#pragma omp single
  for (int t = 0; t < 20; t++) {
#pragma omp task shared(done)
    {
      int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
      {
        CHECK_EQ(omp_get_level(), 2);
        CHECK_EQ(omp_get_num_threads(), 1);
        sum += 3;
      }
      CHECK_EQ(sum, 3);
      CHECK_EQ(omp_get_level(), 1);
      CHECK_EQ(omp_get_num_threads(), n);
#pragma omp atomic
      done++;
    }
  }
  CHECK_EQ(done, 20);
}

static void inactive_outer(void) {
  int inner = 0;
#pragma omp parallel if (0)
  {
    CHECK_EQ(omp_get_level(), 1);
    CHECK_EQ(omp_get_active_level(), 0);
#pragma omp parallel num_threads(2) reduction(+ : inner)
    {
      CHECK_EQ(omp_get_level(), 2);
      CHECK_EQ(omp_get_active_level(), 1);
      CHECK_EQ(omp_get_num_threads(), 2);
      inner++;
    }
  }
  CHECK_EQ(inner, 2);
}

int main(void) {
  omp_set_dynamic(0);
  omp_set_max_active_levels(1);
  CHECK_EQ(omp_get_max_active_levels(), 1);
  CHECK_EQ(omp_get_ancestor_thread_num(0), 0);
  CHECK_EQ(omp_get_team_size(0), 1);
  CHECK_EQ(omp_get_team_size(1), -1);
  int n = omp_get_max_threads();
  n = n > 1 ? n : 2;
  serialised(n);
  region_inside_a_task(n);
  inactive_outer();
  return 0;
}
