/* SPDX-License-Identifier: Apache-2.0
 *
 * With the watchdog off, some idle thread must always poll while operations are pending: when the one that polled goes
 * back to work, and when the waiting tasks are inside regions of their own inside tasks.
 *
 * Covers: marline progress hooks, marline suspension
 */
#include "../check.h"
#include <marline/marline.h>
#include <omp.h>

enum { kWaiters = 2 };

static marline_event_t first, second, inner[kWaiters];
static int fulfilled_first, fulfilled_second, fulfilled_inner[kWaiters], inner_phase;
static double start;
static marline_hook_t* hook;

static int fulfil_once(int* done, marline_event_t* event) {
  if (*done) return 0;
  *done = 1;
  marline_event_fulfill(event);
  return 1;
}

static int poll_events(void* unused) {
  (void)unused;
  int finished = 0;
  double elapsed = omp_get_wtime() - start;
  if (inner_phase) {
    for (int i = 0; elapsed > 0.02 && i < kWaiters; i++) finished += fulfil_once(&fulfilled_inner[i], &inner[i]);
  } else {
    finished += fulfil_once(&fulfilled_first, &first);
    if (elapsed > 0.05) finished += fulfil_once(&fulfilled_second, &second);
  }
  marline_progress_add(hook, -finished);
  return finished;
}

static void wait_for(marline_event_t* event) {
  marline_progress_add(hook, 1);
  marline_event_wait(event);
}

/* The thread that makes `first` ready by its poll computes until the other task has resumed, which takes another
 * poller. */
static void poller_goes_back_to_work(void) {
  int resumed = 0;
  start = omp_get_wtime();
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task untied shared(resumed)
    {
      wait_for(&second);
      __atomic_store_n(&resumed, 1, __ATOMIC_RELEASE);
    }
#pragma omp task untied shared(resumed)
    {
      wait_for(&first);
      while (!__atomic_load_n(&resumed, __ATOMIC_ACQUIRE)) {
      }
    }
  }
}

static void regions_inside_tasks(void) {
  int ended = 0;
  inner_phase = 1;
  start = omp_get_wtime();
#pragma omp parallel num_threads(kWaiters) shared(ended)
  {
    int me = omp_get_thread_num();
#pragma omp barrier
#pragma omp task untied firstprivate(me) shared(ended)
    {
#pragma omp parallel num_threads(1) shared(ended)
      {
#pragma omp task untied firstprivate(me)
        wait_for(&inner[me]);
      }
#pragma omp atomic
      ended++;
    }
  }
  CHECK_EQ(ended, kWaiters);
}

int main(void) {
  hook = marline_progress_register("weak_progress", poll_events, NULL);
  CHECK(hook != NULL);
  marline_event_init(&first);
  marline_event_init(&second);
  for (int i = 0; i < kWaiters; i++) marline_event_init(&inner[i]);
  poller_goes_back_to_work();
  regions_inside_tasks();
  marline_progress_unregister(hook);
  return 0;
}
