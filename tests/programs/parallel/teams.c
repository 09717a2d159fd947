/* SPDX-License-Identifier: Apache-2.0
 *
 * teams on the host: a league of at least one team and at most as many as are asked for; each team's initial thread
 * runs the body, and opens regions of its own within the limit.
 *
 * Covers: teams(num_teams, thread_limit, default, private, firstprivate, shared, reduction), omp_get_num_teams,
 *  omp_get_team_num, omp_set_num_teams, omp_get_max_teams, omp_set_teams_thread_limit, omp_get_teams_thread_limit
 */
#include "../check.h"
#include <omp.h>

enum { kTeams = 4, kLimit = 2 };

static void league(void) {
  int runs = 0, numbers = 0, scratch = 5, base = 7, teams = 0;
#pragma omp teams default(none) num_teams(kTeams) thread_limit(kLimit) shared(numbers, teams) private(scratch) \
    firstprivate(base) reduction(+ : runs)
  {
    scratch = omp_get_team_num();
    CHECK_RANGE(omp_get_num_teams(), 1, kTeams);
    CHECK_RANGE(scratch, 0, omp_get_num_teams() - 1);
    CHECK_EQ(base, 7);
    base += scratch;
    runs++;
    __atomic_fetch_or(&numbers, 1 << scratch, __ATOMIC_RELAXED); /* Clang 14 allows no atomic construct here */
    __atomic_store_n(&teams, omp_get_num_teams(), __ATOMIC_RELAXED);
  }
  CHECK_EQ(runs, teams);
  CHECK_EQ(numbers, (1 << teams) - 1);
  CHECK_EQ(scratch, 5);
  CHECK_EQ(base, 7);
}

static void regions_of_a_team(void) {
  int sum = 0, teams = 0;
#pragma omp teams num_teams(2) thread_limit(kLimit) reduction(+ : sum) shared(teams)
  {
    __atomic_store_n(&teams, omp_get_num_teams(), __ATOMIC_RELAXED);
#pragma omp parallel for num_threads(kLimit) reduction(+ : sum)
    for (int i = 0; i < 100; i++) sum += i;
  }
  CHECK_EQ(sum, 4950 * teams);
}

static void settings(void) {
  int teams = omp_get_max_teams(), limit = omp_get_teams_thread_limit();
  omp_set_num_teams(3);
  omp_set_teams_thread_limit(5);
  CHECK_EQ(omp_get_max_teams(), 3);
  CHECK_EQ(omp_get_teams_thread_limit(), 5);
#pragma omp teams
  CHECK_RANGE(omp_get_num_teams(), 1, 3);
  CHECK(teams >= 0 && limit >= 0);
}

int main(void) {
  league();
  regions_of_a_team();
  settings();
  return 0;
}
