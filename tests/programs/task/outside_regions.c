/* SPDX-License-Identifier: Apache-2.0
 *
 * Tasks outside of parallel regions: a deep chain of them runs without a taskwait, and a thread may end although a
 * detached task of it has not completed; its event may still be fulfilled.
 *
 * Covers: task(detach, firstprivate), omp_fulfill_event
 */
#include "../check.h"
#include <omp.h>
#include <pthread.h>

enum { kDepth = 50 };

static int ran;

static void chain(int depth) {
  ran++;
  if (depth < kDepth) {
#pragma omp task firstprivate(depth)
    chain(depth + 1);
  }
}

static omp_event_handle_t left_behind;

static void* leave_detached_task(void* unused) {
  omp_event_handle_t event;
#pragma omp task detach(event)
  left_behind = event;
  return unused;
}

int main(void) {
#pragma omp task
  chain(1);
  CHECK_EQ(ran, kDepth);
  pthread_t thread;
  for (int i = 0; i < 10; i++) {
    CHECK_EQ(pthread_create(&thread, NULL, leave_detached_task, NULL), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    omp_fulfill_event(left_behind);
  }
#pragma omp parallel
  {
#pragma omp single
#pragma omp task
    ran++;
  }
  CHECK_EQ(ran, kDepth + 1);
  return 0;
}
