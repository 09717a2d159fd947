/* SPDX-License-Identifier: Apache-2.0
 *
 * Leagues of several teams on the host: how many teams there are and who is in which, what each starts with, regions
 * and tasks inside, which iterations distribute gives to which team, reductions across teams, loop; leagues of two
 * threads of the program's at the same time. With an argument: OMP_NUM_TEAMS=3 and OMP_TEAMS_THREAD_LIMIT=2 hold.
 *
 * Covers: teams(num_teams, thread_limit, reduction), omp_get_num_teams, omp_get_team_num,
 *  distribute(dist_schedule, private, firstprivate, lastprivate, collapse), teams distribute,
 *  teams distribute parallel for, teams distribute simd, OMP_NUM_TEAMS, OMP_TEAMS_THREAD_LIMIT
 */
#include "../check.h"
#include <omp.h>
#include <pthread.h>
#include <unistd.h>

#define ADD(variable, value)                                                               \
  __atomic_fetch_add(&(variable), value, __ATOMIC_RELAXED) /* Clang 14: no atomic in teams \
                                                            */

enum { kTeams = 4, kLimit = 2, kIterations = 103 };

#ifdef __clang__
void __kmpc_push_num_teams_51(void* where, int thread, int lower, int upper, int limit);
int __kmpc_global_thread_num(void* where);
#endif

static void check_initial_task(void) { /* GCC accepts these calls in a function only */
  CHECK_EQ(omp_get_thread_num(), 0);
  CHECK_EQ(omp_get_active_level(), 0);
  CHECK_RANGE(omp_get_thread_limit(), 1, kLimit);
}

static void numbers(void) {
  int seen[kTeams] = {0}, threads = omp_get_max_threads(), limit = omp_get_thread_limit();
  CHECK_EQ(omp_get_num_teams(), 1);
  CHECK_EQ(omp_get_team_num(), 0);
#pragma omp teams num_teams(kTeams) thread_limit(kLimit) shared(seen)
  {
    CHECK_EQ(omp_get_num_teams(), kTeams);
    CHECK_RANGE(omp_get_team_num(), 0, kTeams - 1);
    ADD(seen[omp_get_team_num()], 1);
    check_initial_task();
  }
  for (int i = 0; i < kTeams; i++) CHECK_EQ(seen[i], 1);
  CHECK_EQ(omp_get_num_teams(), 1);
  CHECK_EQ(omp_get_team_num(), 0);
  CHECK_EQ(omp_get_max_threads(), threads);
  CHECK_EQ(omp_get_thread_limit(), limit);
}

static void bounds(int lower, int upper) {
  int teams = 0, runs = 0;
#ifdef __clang__
  __kmpc_push_num_teams_51(NULL, __kmpc_global_thread_num(NULL), lower, upper, 0);
#pragma omp teams shared(teams, runs)
#else
#pragma omp teams num_teams(lower : upper) shared(teams, runs)
#endif
  {
    if (omp_get_team_num() == 0) teams = omp_get_num_teams();
    ADD(runs, 1);
  }
  CHECK_RANGE(teams, lower, upper);
  CHECK_EQ(runs, teams);
}

static void regions_and_tasks(void) {
  int in_regions = 0, in_tasks = 0, threads[kTeams] = {0};
#pragma omp teams num_teams(kTeams) thread_limit(kLimit) shared(in_regions, in_tasks, threads)
  {
    int team = omp_get_team_num();
#pragma omp parallel num_threads(7)
    {
      CHECK_RANGE(omp_get_num_threads(), 1, kLimit);
      CHECK_EQ(omp_get_team_num(), team);
      CHECK_EQ(omp_get_num_teams(), kTeams);
      if (omp_get_thread_num() == 0) threads[team] = omp_get_num_threads();
      ADD(in_regions, 1);
#pragma omp task shared(in_tasks)
      {
        CHECK_EQ(omp_get_team_num(), team);
        ADD(in_tasks, 1);
      }
#pragma omp parallel num_threads(2)
      CHECK_EQ(omp_get_team_num(), team);
    }
#pragma omp parallel for
    for (int i = 0; i < 10; i++) ADD(in_regions, 1);
  }
  int all = 0;
  for (int i = 0; i < kTeams; i++) all += threads[i];
  CHECK_EQ(in_tasks, all);
  CHECK_EQ(in_regions, all + 10 * kTeams);
}

static void distribution(void) {
  int team_of[kIterations], last = -1, base = 5, hidden = 9;
#pragma omp teams distribute num_teams(kTeams) dist_schedule(static, 1) lastprivate(last) \
    firstprivate(base) private(hidden)
  for (int i = 0; i < kIterations; i++) {
    hidden = i;
    team_of[i] = omp_get_team_num();
    last = hidden + base;
  }
  for (int i = 0; i < kIterations; i++) CHECK_EQ(team_of[i], i % kTeams);
  CHECK_EQ(last, kIterations - 1 + 5);
  CHECK_EQ(hidden, 9);
#pragma omp teams distribute num_teams(kTeams) dist_schedule(static)
  for (int i = 0; i < kIterations; i++) team_of[i] = omp_get_team_num();
  CHECK_EQ(team_of[0], 0);
  CHECK_EQ(team_of[kIterations - 1], kTeams - 1);
  for (int i = 1; i < kIterations; i++) /* a block each */
    CHECK_RANGE(team_of[i] - team_of[i - 1], 0, 1);
  int hits[5][7] = {{0}}, row = 0;
#pragma omp teams distribute parallel for num_teams(3) collapse(2) schedule(dynamic, 2) lastprivate(row)
  for (int i = 0; i < 5; i++)
    for (int k = 0; k < 7; k++) {
      ADD(hits[i][k], 1);
      row = i * 7 + k;
    }
  for (int i = 0; i < 35; i++) CHECK_EQ(hits[i / 7][i % 7], 1);
  CHECK_EQ(row, 34);
  double sum = 0;
#pragma omp teams distribute simd num_teams(3) reduction(+ : sum)
  for (int i = 0; i < 100; i++) sum += i;
  CHECK_EQ(sum, 4950);
}

typedef struct {
  long low, high, count;
} Span;
static void merge(Span* into, const Span* from) {
  if (from->low < into->low) into->low = from->low;
  if (from->high > into->high) into->high = from->high;
  into->count += from->count;
}
#pragma omp declare reduction(span:Span : merge(&omp_out, &omp_in)) initializer(omp_priv = (Span){1000, -1000, 0})

static void reductions(void) {
  for (int round = 0; round < 50; round++) {
    long sum = round, product = 1;
    Span span = {1000, -1000, 0};
#pragma omp teams num_teams(kTeams) reduction(+ : sum) reduction(* : product) reduction(span : span)
    {
      int team = omp_get_team_num();
      sum += team;
      product *= team + 1;
      merge(&span, &(Span){team, team, 1});
    }
    CHECK_EQ(sum, round + 6);
    CHECK_EQ(product, 24);
    CHECK_EQ(span.low, 0);
    CHECK_EQ(span.high, 3);
    CHECK_EQ(span.count, kTeams);
    sum = 0;
#pragma omp teams distribute parallel for num_teams(3) reduction(+ : sum) reduction(span : span)
    for (int i = 0; i < 100; i++) {
      sum += i;
      merge(&span, &(Span){i, i, 1});
    }
    CHECK_EQ(sum, 4950);
    CHECK_EQ(span.count, kTeams + 100);
    CHECK_EQ(span.high, 99);
  }
}

static void loops(void) {
#if !defined(__clang__) || __clang_major__ >= 19
  long sum = 0;
  int team_hits[kTeams] = {0};
#pragma omp teams num_teams(kTeams) reduction(+ : sum) shared(team_hits)
  {
#pragma omp loop bind(teams)
    for (int i = 0; i < 100; i++) {
      ADD(team_hits[i / 25], 1);
      sum += i;
    }
  }
  CHECK_EQ(sum, 4950);
  for (int i = 0; i < kTeams; i++) CHECK_EQ(team_hits[i], 25);
#pragma omp teams loop num_teams(3) reduction(+ : sum)
  for (int i = 0; i < 100; i++) sum += i;
  CHECK_EQ(sum, 9900);
#endif
}

static void many(void) {
  int runs = 0;
#pragma omp teams num_teams(300) thread_limit(1) shared(runs)
  ADD(runs, 1);
  CHECK_EQ(runs, 300);
}

/* thread_limit holds for all regions within a team together. */
static void limited_together(void) {
  int inside = 0, most = 0, levels = omp_get_max_active_levels();
  omp_set_max_active_levels(3);
#pragma omp teams num_teams(1) thread_limit(6) shared(inside, most)
  for (int round = 0; round < 3; round++) {
#pragma omp parallel num_threads(3)
#pragma omp parallel num_threads(3)
#pragma omp parallel num_threads(2)
    {
      int now;
#pragma omp atomic capture
      now = ++inside;
#pragma omp critical(most)
      most = now > most ? now : most;
      usleep(2000);
      ADD(inside, -1);
    }
#pragma omp parallel num_threads(5)
    if (omp_get_thread_limit() >= 6) CHECK_RANGE(omp_get_num_threads(), 2, 5); /* what regions had is there again */
  }
  CHECK_RANGE(most, 1, 6);
  omp_set_max_active_levels(levels);
}

static void* from_a_thread(void* unused) {
  for (int i = 0; i < 20; i++) numbers();
  return unused;
}

static void defaults(void) {
  int teams = 0;
  CHECK_EQ(omp_get_max_teams(), 3);
  CHECK_EQ(omp_get_teams_thread_limit(), 2);
#pragma omp teams shared(teams)
  {
    ADD(teams, 1);
    CHECK_RANGE(omp_get_num_teams(), 1, 3);
#pragma omp parallel num_threads(5)
    CHECK_RANGE(omp_get_num_threads(), 1, 2);
  }
  CHECK_RANGE(teams, 1, 3);
}

int main(int argc, char** argv) {
  (void)argv;
  if (argc > 1) {
    defaults();
    return 0;
  }
  numbers();
  bounds(2, 5);
  bounds(3, 3);
  bounds(40, 50);
  regions_and_tasks();
  distribution();
  reductions();
  loops();
  limited_together();
  many();
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, from_a_thread, NULL), 0);
  from_a_thread(NULL);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  return 0;
}
