/* SPDX-License-Identifier: Apache-2.0
 *
 * One thread stays away until the others have gone through 100,000 constructs without barriers: no thread waits for it,
 * and it still finds each construct as it was left. Then all threads share loops again, also in larger and smaller
 * teams.
 *
 * Covers: for(schedule:dynamic/guided, nowait, ordered), single(nowait)
 */
#include "../check.h"
#include <omp.h>
#include <sched.h>

enum { kConstructs = 100000, kTrip = 3 };

static _Atomic long hits, others;

static void construct(int number) {
  switch (number % 4) {
    case 0:
#pragma omp for schedule(dynamic) nowait
      for (int i = 0; i < kTrip; i++) hits++;
      break;
    case 1:
#pragma omp for schedule(guided) nowait
      for (int i = 0; i < kTrip; i++) hits++;
      break;
    case 2:
#pragma omp single nowait
      hits += kTrip;
      break;
    default:
#pragma omp for schedule(dynamic, 2) nowait
      for (int i = 0; i < kTrip; i++) hits++;
  }
}

static void far_ahead(int late) {
  hits = others = 0;
#pragma omp parallel
  {
    int threads = omp_get_num_threads(), me = omp_get_thread_num();
    if (threads > 1 && me == late % threads) {
      while (others != threads - 1) sched_yield();
      CHECK_EQ(hits, (long)kConstructs * kTrip);
    }
    for (int number = 0; number < kConstructs; number++) construct(number);
    others++;
  }
  CHECK_EQ(hits, (long)kConstructs * kTrip);
}

/* The turns of an ordered loop, and a reduction, after constructs of which the threads have seen different numbers. */
static void near_again(int threads) {
  int next = 0;
  long sum = 0;
#pragma omp parallel num_threads(threads)
  for (int round = 0; round < 100; round++) {
#pragma omp for schedule(dynamic) ordered
    for (int i = 0; i < 8; i++) {
#pragma omp ordered
      CHECK_EQ(next++, 8 * round + i);
    }
#pragma omp for schedule(guided, 2) reduction(+ : sum)
    for (int i = 0; i < 50; i++) sum += i;
  }
  CHECK_EQ(sum, 100L * 50 * 49 / 2);
}

int main(void) {
  for (int late = 0; late < 3; late++) {
    far_ahead(late);
    near_again(1 + late);
    near_again(5);
  }
  return 0;
}
