/* SPDX-License-Identifier: Apache-2.0
 *
 * Every loop schedule, with and without a chunk, also through schedule(runtime): each iteration runs once, and the
 * distribution is the one that OpenMP 5.1, 2.11.4 prescribes for that kind.
 *
 * Covers: parallel for, for(schedule:static/dynamic/guided/auto/runtime, reduction), omp_set_schedule, omp_get_schedule
 */
#include "../check.h"
#include <omp.h>

enum { kMax = 1000 };

static int owner[kMax];
static int count[kMax];
static const int kTrips[] = {0, 1, 2, 3, 7, 64, 65, kMax};

static void take(int i) {
#pragma omp atomic
  count[i]++;
  owner[i] = omp_get_thread_num();
}

static void each_ran_once(int trip) {
  for (int i = 0; i < kMax; i++) {
    CHECK_EQ(count[i], i < trip);
    count[i] = 0;
  }
}

/* No chunk: one block of nearly equal size per thread, in the order of thread numbers. */
static void is_block_distribution(int trip, int n) {
  int size[64] = {0};
  for (int i = 0; i < trip; i++) {
    CHECK(i == 0 || owner[i] >= owner[i - 1]);
    size[owner[i]]++;
  }
  for (int t = 0; t < n; t++) CHECK_RANGE(size[t], 0, (trip + n - 1) / n);
}

static void is_round_robin(int trip, int n, int chunk) {
  for (int i = 0; i < trip; i++) CHECK_EQ(owner[i], i / chunk % n);
}

/* A chunk is taken whole by one thread. */
static void is_chunked(int trip, int chunk) {
  for (int i = 0; i < trip; i++)
    if (i % chunk != 0) CHECK_EQ(owner[i], owner[i - 1]);
}

/* Runs of one owner are at least `chunk` long, except the last one. */
static void has_runs_of_at_least(int trip, int chunk) {
  for (int i = 0, run = 0; i < trip; i++) {
    if (i > 0 && owner[i] != owner[i - 1]) {
      CHECK(run >= chunk);
      run = 0;
    }
    run++;
  }
}

#define LOOP(trip, schedule)                                                             \
  do {                                                                                   \
    _Pragma("omp parallel") _Pragma(#schedule) for (int i = 0; i < (trip); i++) take(i); \
    each_ran_once(trip);                                                                 \
  } while (0)

static void written_schedules(int trip, int n) {
  LOOP(trip, omp for);
  LOOP(trip, omp for schedule(static));
  is_block_distribution(trip, n);
  for (int chunk = 1; chunk < 12; chunk += 3) {
    LOOP(trip, omp for schedule(static, chunk));
    is_round_robin(trip, n, chunk);
    LOOP(trip, omp for schedule(dynamic, chunk));
    is_chunked(trip, chunk);
    LOOP(trip, omp for schedule(guided, chunk));
    has_runs_of_at_least(trip, chunk);
    LOOP(trip, omp for schedule(monotonic : dynamic, chunk));
    is_chunked(trip, chunk);
    LOOP(trip, omp for schedule(nonmonotonic : dynamic, chunk));
    is_chunked(trip, chunk);
    LOOP(trip, omp for schedule(nonmonotonic : guided, chunk));
  }
  LOOP(trip, omp for schedule(dynamic));
  LOOP(trip, omp for schedule(guided));
  LOOP(trip, omp for schedule(auto));
}

static void runtime_schedules(int trip, int n) {
  const omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided, omp_sched_auto};
  for (int k = 0; k < 4; k++) {
    for (int chunk = 0; chunk < 8; chunk += 4) {
      omp_set_schedule(kinds[k], chunk);
      omp_sched_t kind;
      int got;
      omp_get_schedule(&kind, &got);
      CHECK_EQ(kind, kinds[k]);
      if (chunk > 0 && kinds[k] != omp_sched_auto) CHECK_EQ(got, chunk);
      omp_set_schedule(kinds[k] | omp_sched_monotonic, chunk);
      omp_get_schedule(&kind, &got);
      CHECK_EQ(kind, kinds[k] | omp_sched_monotonic);
      omp_set_schedule(kinds[k], chunk);
      LOOP(trip, omp for schedule(runtime));
      if (kinds[k] == omp_sched_static && chunk == 0) is_block_distribution(trip, n);
      if (kinds[k] == omp_sched_static && chunk > 0) is_round_robin(trip, n, chunk);
      if (kinds[k] == omp_sched_dynamic && chunk > 0) is_chunked(trip, chunk);
      LOOP(trip, omp for schedule(monotonic : runtime));
    }
  }
}

static void combined_construct(int n) {
  for (int threads = 1; threads <= n; threads++) {
    long sum = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 5) reduction(+ : sum)
    for (int i = 0; i < kMax; i++) sum += i;
    CHECK_EQ(sum, kMax * (kMax - 1) / 2);
  }
}

int main(void) {
  omp_set_dynamic(0);
  int n = omp_get_max_threads();
  for (unsigned t = 0; t < sizeof kTrips / sizeof *kTrips; t++) {
    written_schedules(kTrips[t], n);
    runtime_schedules(kTrips[t], n);
  }
  combined_construct(n);
  return 0;
}
