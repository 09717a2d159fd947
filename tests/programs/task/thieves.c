/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that have left floods of short tasks to their creator still take the tasks that need them: ones whose creator
 * waits outside the runtime, and ones that wait for each other.
 *
 * Covers: marline short tasks
 */
#include "../check.h"
#include <omp.h>
#include <sched.h>

enum { kRounds = 20, kFlood = 20000, kLeft = 64 };

static void flood(void) {
  for (int i = 0; i < kFlood; i++) {
#pragma omp task
    {
    }
  }
}

/* The creator does not come back to the runtime before the others have run all of its short tasks. */
static void leave_short_tasks(void) {
  int ran = 0;
  flood();
  for (int i = 0; i < kLeft; i++) {
#pragma omp task shared(ran)
    __atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
  }
  while (omp_get_num_threads() > 1 && __atomic_load_n(&ran, __ATOMIC_RELAXED) < kLeft) sched_yield();
#pragma omp taskwait
  CHECK_EQ(ran, kLeft);
}

/* Each task spins until all others run: a thread for each of them. */
static void meet(void) {
  int threads = omp_get_num_threads();
  int met = 0;
  flood();
#pragma omp taskwait
  for (int i = 0; i < threads; i++) {
#pragma omp task shared(met)
    {
      __atomic_fetch_add(&met, 1, __ATOMIC_RELAXED);
      while (__atomic_load_n(&met, __ATOMIC_RELAXED) < threads) sched_yield();
    }
  }
#pragma omp taskwait
  CHECK_EQ(met, threads);
}

int main(void) {
#pragma omp parallel
#pragma omp single
  for (int round = 0; round < kRounds; round++) {
    leave_short_tasks();
    meet();
  }
  return 0;
}
