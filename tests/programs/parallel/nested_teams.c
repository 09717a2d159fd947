/* SPDX-License-Identifier: Apache-2.0
 *
 * Regions inside regions, each with a team of several threads: numbers, sizes and ancestors at three levels, the
 * constructs of an inner team, inner regions in tasks and of the program's own threads, and thousands of them in a row.
 *
 * Covers: parallel(if, num_threads, firstprivate, shared, copyin, reduction), omp_in_parallel,
 *  omp_get_supported_active_levels, omp_set_max_active_levels, omp_get_max_active_levels, omp_get_level,
 *  omp_get_ancestor_thread_num, omp_get_team_size, omp_get_active_level
 */
#include "../check.h"
#include "inner_constructs.h"
#include <omp.h>
#include <pthread.h>

static int n; /* threads of the outermost regions */

static void check_ancestors(int level, const int numbers[], const int sizes[]) {
  CHECK_EQ(omp_get_level(), level);
  CHECK_EQ(omp_get_thread_num(), numbers[level]);
  CHECK_EQ(omp_get_num_threads(), sizes[level]);
  int active = 0;
  for (int i = 0; i <= level; i++) {
    CHECK_EQ(omp_get_ancestor_thread_num(i), numbers[i]);
    CHECK_EQ(omp_get_team_size(i), sizes[i]);
    active += sizes[i] > 1;
  }
  CHECK_EQ(omp_get_active_level(), active);
  CHECK_EQ(omp_in_parallel(), active > 0);
  CHECK_EQ(omp_get_ancestor_thread_num(level + 1), -1);
  CHECK_EQ(omp_get_ancestor_thread_num(-1), -1);
  CHECK_EQ(omp_get_team_size(level + 1), -1);
}

static void three_levels(void) {
  int seen[8][3][2] = {{{0}}};
  const int sizes[4] = {1, n, 3, 2};
#pragma omp parallel num_threads(n)
  {
    int first = omp_get_thread_num();
    check_ancestors(1, (int[]){0, first}, sizes);
#pragma omp parallel num_threads(3) firstprivate(first)
    {
      int second = omp_get_thread_num();
      check_ancestors(2, (int[]){0, first, second}, sizes);
#pragma omp barrier
#pragma omp parallel num_threads(2) firstprivate(first, second)
      {
        int third = omp_get_thread_num();
        check_ancestors(3, (int[]){0, first, second, third}, sizes);
#pragma omp barrier
#pragma omp atomic
        seen[first][second][third]++;
        check_ancestors(3, (int[]){0, first, second, third}, sizes);
      }
      check_ancestors(2, (int[]){0, first, second}, sizes);
#pragma omp barrier
      check_ancestors(2, (int[]){0, first, second}, sizes);
    }
    check_ancestors(1, (int[]){0, first}, sizes);
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 2; k++) CHECK_EQ(seen[i][j][k], 1);
}

/* The limit counts active regions only, belongs to the task that sets it, and one thread makes a region inactive. */
static void levels_are_limited(void) {
  int reached = 0;
  omp_set_max_active_levels(2);
  CHECK_EQ(omp_get_max_active_levels(), 2);
#pragma omp parallel num_threads(2) reduction(+ : reached)
  {
#pragma omp parallel num_threads(1) reduction(+ : reached)
    {
      CHECK_EQ(omp_get_active_level(), 1);
#pragma omp parallel num_threads(2) reduction(+ : reached)
      {
        CHECK_EQ(omp_get_level(), 3);
        CHECK_EQ(omp_get_active_level(), 2);
        CHECK_EQ(omp_get_num_threads(), 2);
#pragma omp parallel num_threads(2) reduction(+ : reached)
        {
          CHECK_EQ(omp_get_level(), 4);
          CHECK_EQ(omp_get_active_level(), 2);
          CHECK_EQ(omp_get_num_threads(), 1);
          reached++;
        }
      }
#pragma omp parallel num_threads(2) if (omp_get_level() == 0) reduction(+ : reached)
      {
        CHECK_EQ(omp_get_num_threads(), 1);
        reached += 100;
      }
    }
  }
  CHECK_EQ(reached, 204);
  omp_set_max_active_levels(3);
}

static void constructs_in_inner_teams(void) {
#pragma omp parallel num_threads(n)
  {
#pragma omp parallel num_threads(3)
    inner_constructs();
#pragma omp barrier
#pragma omp parallel num_threads(2)
    {
#pragma omp parallel num_threads(2)
      inner_constructs();
    }
  }
}

static int counter = 7;
#pragma omp threadprivate(counter)

static void private_to_threads(void) {
#pragma omp parallel num_threads(n)
  {
    counter = 100 + omp_get_thread_num();
    int mine = counter;
#pragma omp parallel num_threads(3) copyin(counter) firstprivate(mine)
    {
      CHECK_EQ(counter, mine);
#pragma omp barrier
      counter += 1000 * omp_get_thread_num();
#pragma omp barrier
      CHECK_EQ(counter, mine + 1000 * omp_get_thread_num());
    }
    CHECK_EQ(counter, mine);
  }
}

/* Tasks of the outer team that open regions, tied and untied; others of its tasks, and its barrier, meanwhile. */
static void regions_in_tasks(void) {
  enum { kRegions = 30 };
  int inner = 0, plain = 0;
#pragma omp parallel num_threads(n) shared(inner, plain)
  {
#pragma omp for schedule(dynamic)
    for (int t = 0; t < kRegions; t++) {
#pragma omp task shared(inner)
      {
        int outer = omp_get_thread_num(), threads = 0;
#pragma omp parallel num_threads(2) reduction(+ : threads) firstprivate(outer)
        {
          CHECK_EQ(omp_get_level(), 2);
          CHECK_EQ(omp_get_ancestor_thread_num(1), outer);
          inner_tasks();
          threads++;
        }
        CHECK_EQ(omp_get_thread_num(), outer);
        CHECK_EQ(omp_get_level(), 1);
        CHECK_EQ(omp_get_num_threads(), n);
        CHECK_EQ(threads, 2);
#pragma omp atomic
        inner++;
      }
#pragma omp task untied shared(plain)
      {
        int threads = 0;
#pragma omp parallel num_threads(2) reduction(+ : threads)
        threads++;
#pragma omp taskyield
#pragma omp atomic
        plain += threads;
      }
    }
  }
  CHECK_EQ(inner, kRegions);
  CHECK_EQ(plain, 2 * kRegions);
}

/* A taskwait and a taskgroup of the outer team wait for tasks that are in inner regions. */
static void waits_around_regions(void) {
  int value = 0, sum = 0;
#pragma omp parallel num_threads(n)
#pragma omp single
  for (int round = 1; round <= 10; round++) {
#pragma omp task shared(value) depend(out : value)
    {
#pragma omp parallel num_threads(2)
#pragma omp single
      value = round;
    }
#pragma omp task shared(value, sum) depend(in : value)
    {
      CHECK_EQ(value, round);
#pragma omp parallel num_threads(2)
#pragma omp atomic
      sum += value;
    }
#pragma omp taskwait
    CHECK_EQ(sum, round * (round + 1));
#pragma omp taskgroup
    {
#pragma omp task
      {
#pragma omp parallel num_threads(3) shared(sum)
#pragma omp single nowait
        {
#pragma omp task shared(sum)
          {
#pragma omp atomic
            sum++;
          }
        }
      }
    }
    CHECK_EQ(sum, round * (round + 1) + 1);
    sum--;
  }
}

static int threads_of_process(void) {
  FILE* status = fopen("/proc/self/status", "r");
  CHECK(status != NULL);
  char line[256];
  int threads = -1;
  while (threads < 0 && fgets(line, sizeof line, status)) sscanf(line, "Threads: %d", &threads);
  fclose(status);
  return threads;
}

/* No more threads than the regions that are open at one time have, and a few of a runtime's own. */
static void many_in_a_row(void) {
  enum { kRounds = 500 };
  long sum = 0;
  int most = 0;
#pragma omp parallel num_threads(n) reduction(+ : sum) reduction(max : most)
  for (int round = 0; round < kRounds; round++) {
    int size = 2 + round % 3;
#pragma omp parallel num_threads(size) reduction(+ : sum)
    sum += omp_get_thread_num();
    if (round % 100 == 99) {
      int now = threads_of_process();
      most = now > most ? now : most;
    }
  }
  long expected = 0;
  for (int round = 0; round < kRounds; round++) expected += (2 + round % 3) * (1 + round % 3) / 2;
  CHECK_EQ(sum, n * expected);
  CHECK_RANGE(most, n, 120); /* the cases before had up to 8 * 3 * 2 open, four program threads with 3 * 2 each */
}

static void* user_thread(void* arg) {
  long* sum = arg;
  omp_set_max_active_levels(2);
  for (int round = 0; round < 20; round++) {
#pragma omp parallel num_threads(2)
    {
      int outer = omp_get_thread_num();
#pragma omp parallel num_threads(2 + round % 2) firstprivate(outer)
      {
        CHECK_EQ(omp_get_ancestor_thread_num(1), outer);
        CHECK_EQ(omp_get_num_threads(), 2 + round % 2);
#pragma omp atomic
        *sum += 1;
      }
    }
  }
  return NULL;
}

static void from_user_threads(void) {
  enum { kThreads = 3 };
  pthread_t threads[kThreads];
  long sums[kThreads] = {0};
  for (int i = 0; i < kThreads; i++) CHECK_EQ(pthread_create(&threads[i], NULL, user_thread, &sums[i]), 0);
  for (int i = 0; i < kThreads; i++) {
    CHECK_EQ(pthread_join(threads[i], NULL), 0);
    CHECK_EQ(sums[i], 100);
  }
}

int main(int argc, char** argv) {
  (void)argv;
  omp_set_dynamic(0);
  n = omp_get_max_threads();
  CHECK_RANGE(n, 1, 8);
  CHECK(omp_get_supported_active_levels() >= 3);
  omp_set_max_active_levels(3);
  for (int round = 0; round < 3; round++) {
    three_levels();
    levels_are_limited();
    constructs_in_inner_teams();
    private_to_threads();
    regions_in_tasks();
    waits_around_regions();
  }
  many_in_a_row();
  if (argc == 1) /* with an argument: without them */
    from_user_threads();
  return 0;
}
