/* SPDX-License-Identifier: Apache-2.0
 *
 * While an operation is pending some idle thread polls, whichever did before: thread 2 polls for the first one and then
 * sleeps with nothing to do; for the second, thread 0 waits while thread 1 sleeps. No other thread polls
 * (MARLINE_PROGRESS=idle), so a sleeper that keeps the poller's role is a hang, which the alarm ends.
 *
 * Covers: marline events
 */
#include "../check.h"
#include <marline/marline.h>
#include <omp.h>

static marline_event_t events[2];
static int posted, done;
static int leave;
static marline_hook_t* hook;

static int poll_events(void* unused) {
  int finished = 0;
  (void)unused;
  for (; done < __atomic_load_n(&posted, __ATOMIC_ACQUIRE); finished++) {
    marline_event_t* event = &events[done++]; /* counted first: the end of the wait shows the count to main */
    marline_event_fulfill(event);
  }
  marline_progress_add(hook, -finished);
  return finished;
}

static void post(int number) {
  marline_progress_add(hook, 1);
  __atomic_store_n(&posted, number, __ATOMIC_RELEASE);
}

int main(void) {
  alarm(100);
  hook = marline_progress_register("two operations", poll_events, NULL);
  CHECK(hook != NULL);
  for (int i = 0; i < 2; i++) marline_event_init(&events[i]);
#pragma omp parallel num_threads(3)
  {
    if (omp_get_thread_num() == 0) {
      usleep(20000); /* 2 comes to sleep at the barrier */
      post(1);
      usleep(20000); /* 2 has polled, and sleeps again */
      __atomic_store_n(&leave, 1, __ATOMIC_RELAXED);
      usleep(20000); /* 1 sleeps, too */
      post(2);
      marline_event_wait(&events[1]);
    } else if (omp_get_thread_num() == 1) {
      while (!__atomic_load_n(&leave, __ATOMIC_RELAXED)) usleep(500);
    }
  }
  CHECK_EQ(done, 2);
  return 0;
}
