/* SPDX-License-Identifier: Apache-2.0
 *
 * Example: a progress hook, for operations that somebody has to ask about.
 *
 * Timers stand for any asynchronous library with a test function. Starting one tells the scheduler that one operation
 * is pending; the scheduler calls `poll` at task switches and from idle threads; `poll` fulfils the events of the
 * timers that have ended and takes them off the count. While nothing is pending it is not called.
 *
 * Covers: marline progress hooks, marline events
 */
#include "../check.h"
#include <marline/marline.h>
#include <omp.h>

enum { kTimers = 32 };

typedef struct {
  double deadline;
  int active;
  marline_event_t expired;
} Timer;

static Timer timers[kTimers];
static marline_hook_t* hook;

/* One thread of the process at a time: `active` needs no lock, only an order with sleep_in_task. */
static int poll_timers(void* unused) {
  (void)unused;
  int finished = 0;
  double now = omp_get_wtime();
  for (int t = 0; t < kTimers; t++) {
    if (!__atomic_load_n(&timers[t].active, __ATOMIC_ACQUIRE) || timers[t].deadline > now) continue;
    __atomic_store_n(&timers[t].active, 0, __ATOMIC_RELAXED);
    marline_progress_add(hook, -1);
    marline_event_fulfill(&timers[t].expired);
    finished++;
  }
  return finished;
}

static void sleep_in_task(int t, double seconds) {
  timers[t].deadline = omp_get_wtime() + seconds;
  marline_event_init(&timers[t].expired);
  __atomic_store_n(&timers[t].active, 1, __ATOMIC_RELEASE);
  marline_progress_add(hook, 1);
  marline_event_wait(&timers[t].expired);
}

int main(void) {
  hook = marline_progress_register("timers", poll_timers, NULL);
  CHECK(hook != NULL);
  int woken = 0;
  double start = omp_get_wtime();
#pragma omp parallel
#pragma omp single
  for (int t = 0; t < kTimers; t++) {
#pragma omp task untied shared(woken)
    {
      sleep_in_task(t, 0.05);
#pragma omp atomic
      woken++;
    }
  }
  double elapsed = omp_get_wtime() - start;
  marline_progress_unregister(hook);
  printf("%d tasks slept 50 ms each in %.0f ms\n", woken, elapsed * 1e3);
  CHECK_EQ(woken, kTimers);
  CHECK(elapsed >= 0.05);
  CHECK(elapsed < 0.05 * kTimers); /* they slept together, not in turn */
  return 0;
}
