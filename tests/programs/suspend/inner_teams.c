/* SPDX-License-Identifier: Apache-2.0
 *
 * Inner teams in which all threads wait for a task of the outer team: it holds the lock that they want and is itself
 * suspended until a third task resumes it. The third task has not begun when all threads of the outer team are in inner
 * regions. And tasks of an inner team, and its implicit tasks, that suspend.
 *
 * Covers: marline suspension, parallel(num_threads)
 */
#include "../check.h"
#include <marline/marline.h>
#include <omp.h>

static int n;

/* The first thread of each inner team waits at the team's end, or for the lock as well. */
static void held_lock(int regions, int first_waits) {
  marline_event_t gate;
  omp_lock_t lock;
  int holds = 0, passed = 0;
  marline_event_init(&gate);
  omp_init_lock(&lock);
#pragma omp parallel num_threads(n) shared(holds, passed)
#pragma omp single
  {
#pragma omp task shared(holds) untied
    {
      omp_set_lock(&lock);
      __atomic_store_n(&holds, 1, __ATOMIC_RELEASE);
      marline_event_wait(&gate);
      omp_unset_lock(&lock);
    }
    while (!__atomic_load_n(&holds, __ATOMIC_ACQUIRE)) {
#pragma omp taskyield
    }
    for (int r = 0; r < regions; r++) {
#pragma omp task shared(passed)
      {
#pragma omp parallel num_threads(3)
        if (first_waits || omp_get_thread_num() > 0) {
          omp_set_lock(&lock);
          passed++;
          omp_unset_lock(&lock);
        }
      }
    }
#pragma omp task
    marline_event_fulfill(&gate);
  }
  omp_destroy_lock(&lock);
  CHECK_EQ(passed, regions * (first_waits ? 3 : 2));
}

/* Every thread of an inner team waits for an event that a task of the team around it fulfils. */
static void waiting_teams(int regions) {
  enum { kMost = 12, kWaiters = 3 };
  marline_event_t gates[kMost][kWaiters];
  int passed = 0;
  for (int r = 0; r < regions; r++)
    for (int w = 0; w < kWaiters; w++) marline_event_init(&gates[r][w]);
#pragma omp parallel num_threads(n) shared(passed, gates)
#pragma omp single
  {
    for (int r = 0; r < regions; r++) {
#pragma omp task shared(passed, gates) firstprivate(r)
      {
#pragma omp parallel shared(passed, gates) num_threads(2)
        {
#pragma omp single nowait
          marline_event_wait(&gates[r][0]);
          int gate = 1 + omp_get_thread_num();
#pragma omp task shared(passed, gates) firstprivate(gate) untied
          {
            marline_event_wait(&gates[r][gate]);
#pragma omp atomic
            passed++;
          }
        }
      }
    }
    for (int r = 0; r < regions; r++) {
#pragma omp task shared(gates) firstprivate(r)
      for (int w = 0; w < kWaiters; w++) marline_event_fulfill(&gates[r][w]);
    }
  }
  CHECK_RANGE(passed, regions, 2 * regions);
}

int main(void) {
  omp_set_dynamic(0);
  n = omp_get_max_threads();
  omp_set_max_active_levels(2);
  for (int round = 0; round < 5; round++) {
    held_lock(2 * n, 0);
    held_lock(2 * n, 1);
    waiting_teams(2);
    waiting_teams(12);
  }
  return 0;
}
