/* SPDX-License-Identifier: Apache-2.0
 *
 * Leagues with teams of one thread each, by turns with parallel regions: the threads of the regions run them, as
 * further ones would be more than there are cores. (A league of another size than the regions has threads of its own.)
 * All teams run, and so do regions and tasks inside of them.
 *
 * Covers: teams(num_teams, thread_limit), parallel(num_threads), task, taskwait
 */
#include "../check.h"
#include <omp.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kTeams = 9, kRounds = 20, kMostThreads = 16 };

struct threads {
  long known[kMostThreads];
  int count;
};
static struct threads regions, league;
static int teams_run, tasks_run;

static int is_among(const struct threads* set, long thread) {
  for (int i = 0; i < set->count; i++)
    if (set->known[i] == thread) return 1;
  return 0;
}

static void note_thread(struct threads* set) {
  long thread = syscall(SYS_gettid);
#pragma omp critical
  if (!is_among(set, thread)) {
    CHECK(set->count < kMostThreads);
    set->known[set->count++] = thread;
  }
}

static void run_team(void) {
  note_thread(&league);
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
      note_thread(&regions);
      threads++;
      CHECK_EQ(omp_get_level(), 1);
    }
    league.count = 0;
#pragma omp teams num_teams(kTeams) thread_limit(1)
    run_team();
    for (int i = 0; league.count == threads && i < threads; i++) CHECK(is_among(&regions, league.known[i]));
    CHECK_EQ(teams_run, kTeams * (round + 1));
    CHECK_EQ(tasks_run, teams_run);
    CHECK_EQ(omp_get_level(), 0);
  }
  return 0;
}
