/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that have nothing to do use no CPU, once the time that they wait for more work is over: after regions, after
 * nested ones, and after the thread that opened them has ended. With OMP_WAIT_POLICY=active as well where there are
 * more threads than cores and no team that would use them: the program has not asked these threads to wait actively.
 *
 * Covers: OMP_WAIT_POLICY
 */
#include "../check.h"
#include <omp.h>
#include <pthread.h>
#include <time.h>

static long long milliseconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* Waits for a stretch of time in which the process uses next to nothing. A runtime may wait actively for a while. */
static void check_idle(void) {
  enum { kStretch = 150, kUsed = 15, kPatience = 4000 };
  long long begin = milliseconds(CLOCK_MONOTONIC), used;
  do {
    long long before = milliseconds(CLOCK_PROCESS_CPUTIME_ID);
    usleep(kStretch * 1000);
    used = milliseconds(CLOCK_PROCESS_CPUTIME_ID) - before;
  } while (used > kUsed && milliseconds(CLOCK_MONOTONIC) - begin < kPatience);
  CHECK_RANGE(used, 0, kUsed);
}

static int more_than_cores(void) { return 2 * omp_get_num_procs() + 2; }

static void nested(int outer, int inner) {
  int ran = 0;
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(outer) reduction(+ : ran)
  {
#pragma omp parallel num_threads(inner) reduction(+ : ran)
    ran++;
  }
  CHECK_EQ(ran, outer * inner);
}

static void* open_regions(void* argument) {
  nested(2, more_than_cores());
  return argument;
}

int main(void) {
  const char* policy = getenv("OMP_WAIT_POLICY");
  omp_set_dynamic(0);
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, open_regions, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  check_idle();
  if (policy != NULL &&
      strcmp(policy, "active") == 0) /* who is in a team waits for its next region as it was told to */
    return 0;
  nested(omp_get_max_threads(), 2);
  check_idle();
#pragma omp parallel
  CHECK_EQ(omp_get_level(), 1);
  check_idle();
  return 0;
}
