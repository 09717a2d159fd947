/* SPDX-License-Identifier: Apache-2.0
 *
 * Leagues whose teams have one thread each, by turns with parallel regions: the threads of the regions run them, as
 * further ones would be more than there are processors. (Regions of more threads than that are another size than a
 * league, which has threads of its own.) All teams run, and so do regions and tasks inside of them.
 *
 * Covers: teams(num_teams, thread_limit), parallel(num_threads), task, taskwait
 */
#include "../check.h"
#include <omp.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kTeams = 9, kRounds = 20, kMostThreads = 16 };

static long known[kMostThreads];
static int known_count, teams_run, tasks_run;

static int is_known(long thread) {
  for (int i = 0; i < known_count; i++)
    if (known[i] == thread)
      return 1;
  return 0;
}

static void note_thread(void) {
  long thread = syscall(SYS_gettid);
#pragma omp critical
  if (!is_known(thread)) {
    CHECK(known_count < kMostThreads);
    known[known_count++] = thread;
  }
}

static void run_team(void) {
  note_thread();
  usleep(300); /* so that one thread does not run all teams before another one has woken up */
  int inside = 0;
#pragma omp parallel num_threads(4) shared(inside)
  {
#pragma omp atomic
    inside++;
#pragma omp task
#pragma omp atomic
    tasks_run++;
#pragma omp taskwait
  }
  CHECK_EQ(inside, 1);
  CHECK_EQ(omp_get_num_teams(), kTeams);
#pragma omp atomic
  teams_run++;
}

int main(void) {
  for (int round = 0; round < kRounds; round++) {
    int threads = 0;
#pragma omp parallel reduction(+ : threads)
    {
      note_thread();
      threads++;
      CHECK_EQ(omp_get_level(), 1);
    }
    const int most = threads <= omp_get_num_procs() ? threads : kMostThreads;
    CHECK_RANGE(known_count, 1, most);
#pragma omp teams num_teams(kTeams) thread_limit(1)
    run_team();
    CHECK_RANGE(known_count, 1, most);
    CHECK_EQ(teams_run, kTeams * (round + 1));
    CHECK_EQ(tasks_run, teams_run);
    CHECK_EQ(omp_get_level(), 0);
  }
  return 0;
}
