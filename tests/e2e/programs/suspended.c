/* SPDX-License-Identifier: Apache-2.0
 *
 * For a debugger: when main calls stop_here(), four tasks are suspended in waits_here(). On more than one thread the
 * first of them lies on a pool thread's own stack, over the barrier. Ends with "done" once they have come back. */
#include <marline/marline.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { kTasks = 4 };

static marline_event_t events[kTasks];
static int arrived, returned;

__attribute__((noinline)) void waits_here(int task) {
  static const char* const names[] = {"part", NULL};
  const marline_wait_t what = {"take", names, {task}};
  volatile int kept = task * 11;
  __atomic_add_fetch(&arrived, 1, __ATOMIC_RELAXED);
  if (task % 2)
    marline_event_wait(&events[task]);
  else
    marline_event_wait_for(&events[task], &what);
  if (kept == task * 11) __atomic_add_fetch(&returned, 1, __ATOMIC_RELAXED);
}

/* Or ends the process with a core file. */
__attribute__((noinline)) void stop_here(void) {
  if (getenv("ABORTS")) abort();
  __asm__ volatile("" ::: "memory");
}

int main(void) {
#pragma omp parallel
#pragma omp single
  {
    for (int t = 0; t < kTasks; t++) {
      marline_event_init(&events[t]);
      marline_task_label(t % 2 ? "odd number" : "even number");
      if (t < 2) {
#pragma omp task firstprivate(t)
        waits_here(t);
      } else {
#pragma omp task untied firstprivate(t)
        waits_here(t);
      }
      while (t == 0 && omp_get_num_threads() > 1 && !__atomic_load_n(&arrived, __ATOMIC_RELAXED))
        sched_yield(); /* another thread takes the first */
    }
    for (int t = 0; t < kTasks; t++) /* an event's word changes when its waiter has been suspended */
      while (__atomic_load_n(&events[t].state, __ATOMIC_ACQUIRE) == 0) {
#pragma omp taskyield
      }
    stop_here();
    for (int t = 0; t < kTasks; t++) marline_event_fulfill(&events[t]);
  }
  if (returned != kTasks) return 1;
  puts("done");
  return 0;
}
