/* SPDX-License-Identifier: Apache-2.0
 *
 * Many runs of short regions, which a device may run with one thread if the program asks for no number. A num_threads
 * clause and omp_set_num_threads hold all the same, so do the number of teams and the result of omp_get_max_threads.
 * Results are the same with one thread and with several, also when a short region becomes long.
 *
 * Covers: target(map, thread_limit), target parallel(num_threads), target teams distribute parallel for, target teams,
 *  omp_get_max_threads, omp_get_num_threads, omp_set_num_threads, omp_get_num_teams
 */
#include "../device.h"
#include <sched.h>

enum { kRuns = 200, kN = 64, kTeams = 4 };

/* Two threads that wait for each other: with one, this would stand still. */
static void meets_other(int* there) {
  int number = omp_get_thread_num();
  __atomic_fetch_add(&there[number], 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&there[1 - number], __ATOMIC_SEQ_CST) < __atomic_load_n(&there[number], __ATOMIC_SEQ_CST))
    sched_yield();
}

#pragma omp declare target to(meets_other)

static void clause_holds(void) {
  int there[2] = {0}, threads = 0;
#pragma omp target data map(tofrom : there)
  for (int run = 0; run < kRuns; run++) {
#pragma omp target parallel num_threads(2) map(tofrom : there)
    meets_other(there);
  }
  CHECK_EQ(there[0], kRuns);
  CHECK_EQ(there[1], kRuns);
  for (int run = 0; run < kRuns; run++) {
    threads = 0;
#pragma omp target map(tofrom : threads)
    {
      omp_set_num_threads(3);
#pragma omp parallel
#pragma omp single
      threads = omp_get_num_threads();
    }
    CHECK_EQ(threads, 3);
  }
}

static void most_threads(void) {
  int first = 0;
  for (int run = 0; run < kRuns; run++) {
    int most = 0, threads = 0, counted = 0;
#pragma omp target map(tofrom : most, threads, counted)
    {
      most = omp_get_max_threads();
#pragma omp parallel
      {
#pragma omp single
        threads = omp_get_num_threads();
#pragma omp atomic
        counted++;
      }
    }
    if (run == 0) first = most;
    CHECK_EQ(most, first);
    CHECK_RANGE(threads, 1, most);
    CHECK_EQ(counted, threads);
  }
}

static void loops(void) {
  long* values = calloc(kN * kRuns, sizeof *values);
#pragma omp target data map(tofrom : values[0 : kN * kRuns])
  for (int run = 0; run < kRuns; run++) {
    int count = run % 50 == 49 ? kN * kRuns : kN; /* now and then it is longer */
#pragma omp target teams distribute parallel for thread_limit(256)
    for (int i = 0; i < count; i++) values[i] += run;
  }
  long always = kRuns * (kRuns - 1) / 2, long_ones = 49 + 99 + 149 + 199;
  for (int i = 0; i < kN * kRuns; i++) CHECK_EQ(values[i], i < kN ? always : long_ones);
  free(values);
}

static void leagues(void) {
  int runs[kTeams] = {0}, teams = 0;
#pragma omp target data map(tofrom : runs, teams)
  for (int run = 0; run < kRuns; run++) {
#pragma omp target teams num_teams(kTeams) thread_limit(64) map(tofrom : runs, teams)
    {
      int own = 0;
#pragma omp parallel reduction(+ : own)
      own += omp_get_thread_num() == 0;
      runs[omp_get_team_num()] += own;
      if (omp_get_team_num() == 0) teams += omp_get_num_teams();
    }
  }
  CHECK_EQ(teams, kRuns * kTeams);
  for (int team = 0; team < kTeams; team++) CHECK_EQ(runs[team], kRuns);
}

int main(void) {
  clause_holds();
  most_threads();
  loops();
  leagues();
  return 0;
}
