/* SPDX-License-Identifier: Apache-2.0
 *
 * Regions of changing size opened by several threads of the program at once, with barriers, single, and tasks that
 * cross a barrier, and leagues of short teams between them. The jobs of such a team are taken back from threads that
 * come late. So teams are reused, grown and shrunk, and nothing of one region or league may reach into the next. */
#include <omp.h>
#include <pthread.h>

#include "stress.h"

#define ROOTS 3

struct root {
  uint64_t seed, rounds;
};

static void one_region(uint64_t* state) {
  int threads = 1 + below(state, 5);
  int tasks = below(state, 20);
  int before = 0, after = 0, seen[8] = {0};
#pragma omp parallel num_threads(threads) shared(before, after, seen)
  {
    CHECK(omp_get_num_threads() <= threads, "%d threads", omp_get_num_threads());
#pragma omp atomic
    seen[omp_get_thread_num()]++;
#pragma omp single nowait
    for (int t = 0; t < tasks; ++t) {
#pragma omp task shared(before)
      {
#pragma omp taskyield
#pragma omp atomic
        before++;
      }
    }
#pragma omp barrier
    int now;
#pragma omp atomic read
    now = before;
    CHECK(now == tasks, "%d of %d tasks ran before the barrier", now, tasks);
#pragma omp task shared(after)
    {
#pragma omp atomic
      after++;
    }
  }
  int team = 0;
  for (int i = 0; i < 8; ++i) {
    CHECK(seen[i] <= 1, "thread number %d twice", i);
    team += seen[i];
  }
  CHECK(after == team, "%d tasks of %d threads", after, team);
}

static void one_league(uint64_t* state) {
  int teams = 1 + below(state, 8), limit = 1 + below(state, 3), length = below(state, 2) * 2000;
  int runs[8] = {0}, inside = 0;
#pragma omp teams num_teams(teams) thread_limit(limit) shared(runs, inside) firstprivate(length)
  {
    for (volatile int i = 0; i < length; ++i) {
    }
    __atomic_fetch_add(&runs[omp_get_team_num()], 1, __ATOMIC_RELAXED);
#pragma omp parallel shared(inside)
#pragma omp single
    {
#pragma omp task shared(inside)
      __atomic_fetch_add(&inside, 1, __ATOMIC_RELAXED);
    }
  }
  for (int team = 0; team < 8; ++team) CHECK(runs[team] == (team < teams), "team %d: %d runs", team, runs[team]);
  CHECK(inside == teams, "%d tasks of %d teams", inside, teams);
}

static void* root_main(void* arg) {
  struct root* root = arg;
  uint64_t state = root->seed;
  for (uint64_t round = 0; round < root->rounds; ++round) {
    one_region(&state);
    for (int leagues = below(&state, 4); leagues > 0; --leagues) one_league(&state);
  }
  return NULL;
}

int main(int argc, char** argv) {
  uint64_t seed = argument(argc, argv, 1, 1), rounds = argument(argc, argv, 2, 100);
  pthread_t threads[ROOTS];
  struct root roots[ROOTS];
  for (int i = 0; i < ROOTS; ++i) {
    roots[i] = (struct root){seed * 31 + (uint64_t)i, rounds};
    CHECK(pthread_create(&threads[i], NULL, root_main, &roots[i]) == 0, "pthread_create");
  }
  for (int i = 0; i < ROOTS; ++i) pthread_join(threads[i], NULL);
  return 0;
}
