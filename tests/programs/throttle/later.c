/* SPDX-License-Identifier: Apache-2.0
 *
 * Tasks that wait for tasks that their producer creates later, by each way of waiting, many more than the limits allow
 * to be under way: the producer must go on. With undeferred and final tasks among them, which no limit may hold.
 *
 * Covers: marline throttling, marline suspension
 */
#include "../check.h"
#include <marline/marline.h>
#include <omp.h>

enum { kWaiters = 48 };

static marline_event_t events[kWaiters];
static _Atomic int flags[kWaiters], ended;

static void events_fulfilled_later(void) {
  for (int i = 0; i < kWaiters; i++) marline_event_init(&events[i]);
  for (int i = 0; i < kWaiters; i++) {
#pragma omp task firstprivate(i)
    {
      marline_event_wait(&events[i]);
      ended++;
    }
  }
  for (int i = kWaiters - 1; i >= 0; i--) {
#pragma omp task firstprivate(i)
    marline_event_fulfill(&events[i]);
  }
#pragma omp taskwait
}

static void flags_set_later(void) {
  for (int i = 0; i < kWaiters; i++) {
#pragma omp task firstprivate(i)
    {
      while (!flags[i]) {
#pragma omp taskyield
      }
      ended++;
    }
  }
  for (int i = kWaiters - 1; i >= 0; i--) {
#pragma omp task firstprivate(i)
    flags[i] = 1;
  }
#pragma omp taskwait
}

/* Tasks with bodies that have ended, but which complete only when later tasks fulfil their events; and tasks after
 * them. */
static void detached(void) {
  static omp_event_handle_t handles[kWaiters];
  static char links[kWaiters];
  (void)links; /* GCC does not count a depend clause as a use */
  for (int i = 0; i < kWaiters; i++) {
    omp_event_handle_t handle = 0;
#pragma omp task detach(handle) depend(out : links[i])
    {
    }
    handles[i] = handle;
#pragma omp task depend(in : links[i])
    ended++;
  }
  for (int i = 0; i < kWaiters; i++) {
#pragma omp task firstprivate(i)
    omp_fulfill_event(handles[i]);
  }
#pragma omp taskwait
}

/* What waits is an undeferred task's child, and a final task's sibling. */
static void undeferred(void) {
  static _Atomic int seen;
  for (int i = 0; i < kWaiters; i++) {
#pragma omp task
    {
      while (seen < kWaiters) {
#pragma omp taskyield
      }
      ended++;
    }
#pragma omp task if (0)
    seen++;
#pragma omp task final(1)
    {
#pragma omp task
      ended++;
    }
  }
#pragma omp taskwait
}

static void run(void (*produce)(void), int expected) {
  ended = 0;
#pragma omp parallel
#pragma omp single
  produce();
  CHECK_EQ(ended, expected);
}

int main(void) {
  run(events_fulfilled_later, kWaiters);
  run(flags_set_later, kWaiters);
  run(detached, kWaiters);
  run(undeferred, 2 * kWaiters);
  ended = 0;
  for (int i = 0; i < kWaiters; i++) flags[i] = 0;
  flags_set_later(); /* outside of parallel regions */
  CHECK_EQ(ended, kWaiters);
  return 0;
}
