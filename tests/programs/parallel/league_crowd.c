/* SPDX-License-Identifier: Apache-2.0
 *
 * A league of many teams, each of which asks for many threads: all teams run, and together they have no more threads
 * than there are processors, nor does the process start more. A league of one team has what it asks for.
 *
 * Covers: teams(num_teams, thread_limit), target teams(num_teams, thread_limit), parallel(num_threads), for
 */
#include "../check.h"
#include <dirent.h>
#include <omp.h>

enum { kTeams = 32, kAsked = 64, kRounds = 20 };

static int inside, most, iterations, teams_run;

static void enter(void) {
  int now;
#pragma omp atomic capture
  now = ++inside;
#pragma omp critical(most)
  if (now > most) most = now;
}

static void leave(void) {
#pragma omp atomic
  inside--;
}

static void run_team(void) {
#pragma omp parallel num_threads(kAsked)
  {
    enter();
#pragma omp for
    for (int i = 0; i < kAsked; i++)
#pragma omp atomic
      iterations++;
    leave();
  }
#pragma omp atomic
  teams_run++;
}

static int threads_of_the_process(void) {
  int count = -2; /* . and .. */
  DIR* tasks = opendir("/proc/self/task");
  CHECK(tasks != NULL);
  while (readdir(tasks) != NULL) count++;
  closedir(tasks);
  return count;
}

static void expect(int rounds, int threads) {
  CHECK_EQ(teams_run, kTeams * rounds);
  CHECK_EQ(iterations, kTeams * kAsked * rounds);
  CHECK_RANGE(most, 1, threads);
}

int main(void) {
  const int processors = omp_get_num_procs();
  for (int round = 0; round < kRounds; round++) {
#pragma omp teams num_teams(kTeams) thread_limit(kAsked)
    run_team();
  }
  expect(kRounds, processors);
  for (int round = 0; round < kRounds; round++) {
#pragma omp target teams num_teams(kTeams) thread_limit(kAsked)
    run_team();
  }
  expect(2 * kRounds, processors);
  CHECK_RANGE(threads_of_the_process(), 1, processors + 4); /* and some that run no teams */
  int alone = 0;
#pragma omp teams num_teams(1) thread_limit(3) shared(alone)
#pragma omp parallel num_threads(3)
#pragma omp single
  alone = omp_get_num_threads();
  CHECK_EQ(alone, 3);
  return 0;
}
