/* SPDX-License-Identifier: Apache-2.0
 *
 * Doacross nests with `nowait`, one after another. One thread stays in one of them until another thread is 120 nests
 * ahead, and then goes on to use it. Each nest in turn is the one in which a thread is late. In Clang's code a nest and
 * its loop are two constructs; the loop before the nests makes the nests' numbers odd in every other region.
 *
 * Covers: for(ordered, schedule:dynamic, nowait), ordered(depend:source)
 */
#include "../check.h"
#include <omp.h>
#include <sched.h>

enum { kNests = 200, kAhead = 120, kLate = 64 };

static _Atomic int here, may_go;
static _Atomic long iterations;

/* Each thread has one iteration of the late nest. */
static void meet(int threads) {
  here++;
  while (here < threads) sched_yield();
  if (omp_get_thread_num() != threads - 1) return;
  while (!may_go) sched_yield();
}

static void late_in(int late) {
  here = may_go = 0;
  iterations = 0;
  int threads = 1;
#pragma omp parallel
  {
#pragma omp single
    threads = omp_get_num_threads();
#pragma omp for schedule(dynamic) nowait
    for (int i = 0; i < threads; i++) iterations++;
    for (int nest = 0; nest < kNests; nest++) {
#pragma omp for schedule(dynamic) ordered(1) nowait
      for (int i = 0; i < threads; i++) {
        if (nest == late && threads > 1) meet(threads);
        iterations++;
#pragma omp ordered depend(source)
      }
      if (omp_get_thread_num() == 0 && nest == late + kAhead) may_go = 1;
    }
  }
  CHECK_EQ(iterations, (long)(kNests + 1) * threads);
}

int main(void) {
  for (int late = 0; late < kLate; late++) late_in(late);
  return 0;
}
