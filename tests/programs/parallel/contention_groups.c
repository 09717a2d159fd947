/* SPDX-License-Identifier: Apache-2.0
 *
 * With OMP_THREAD_LIMIT=4: the limit is that of a contention group. Each thread of the program has a group of its own,
 * at the same time as others or after them, whatever threads wait for work elsewhere. In a group, random nests of
 * regions together never have more threads than the limit, and the outermost region gets what it asks for, up to the
 * limit.
 *
 * Covers: OMP_THREAD_LIMIT, parallel(num_threads), omp_get_thread_limit, teams(num_teams)
 */
#include "../check.h"
#include <omp.h>
#include <pthread.h>

enum { kLimit = 4, kMostAsked = 6, kDeepest = 3, kThreads = 3, kRounds = 40, kAlone = 3 };

/* Of one group: threads in its regions, without the initial one. */
struct group {
  int members;
  unsigned seed;
};

static int draw(unsigned* seed, int most) {
  *seed = *seed * 1103515245u + 12345u;
  return (int)((*seed >> 16) % (unsigned)most);
}

static void nest(struct group* group, unsigned seed, int depth) {
  int asked = 1 + draw(&seed, kMostAsked), got = 0;
#pragma omp parallel num_threads(asked)
  {
    int self = omp_get_thread_num(), members = 0;
    if (self == 0)
      got = omp_get_num_threads();
    else
#pragma omp atomic capture
      members = ++group->members;
    CHECK_RANGE(members, 0, kLimit - 1);
    unsigned own = seed + 7919u * (unsigned)self;
    if (depth < kDeepest && draw(&own, 2) == 0) nest(group, own, depth + 1);
#pragma omp barrier
    if (self != 0)
#pragma omp atomic
      group->members--;
  }
  CHECK_RANGE(got, 1, asked);
  if (depth == 0) CHECK_EQ(got, asked < kLimit ? asked : kLimit);
}

static void* initial_thread(void* argument) {
  struct group group = {0, *(unsigned*)argument};
  omp_set_dynamic(0);
  omp_set_max_active_levels(kDeepest + 1);
  CHECK_EQ(omp_get_thread_limit(), kLimit);
  for (int round = 0; round < kRounds; round++) {
    draw(&group.seed, 2);
    nest(&group, group.seed, 0);
    CHECK_EQ(group.members, 0);
  }
  return NULL;
}

static void side_by_side(int count, unsigned seed) {
  pthread_t threads[kThreads];
  unsigned seeds[kThreads];
  for (int i = 0; i < count; i++) {
    seeds[i] = seed + (unsigned)i;
    CHECK_EQ(pthread_create(&threads[i], NULL, initial_thread, &seeds[i]), 0);
  }
  for (int i = 0; i < count; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
}

/* The team of a league is a group, too: one that asks for the limit gets it. */
static void league(void) {
#pragma omp teams num_teams(1) thread_limit(kLimit)
  {
    int got = 0;
#pragma omp parallel num_threads(kLimit)
#pragma omp single
    got = omp_get_num_threads();
    CHECK_EQ(got, kLimit);
  }
}

int main(void) {
  unsigned seed = 1;
  initial_thread(&seed); /* its team waits for its next region from now on */
  for (int i = 0; i < kAlone; i++) side_by_side(1, 100u * (unsigned)i);
  side_by_side(kThreads, 1000);
  league();
  initial_thread(&seed);
  return 0;
}
