/* SPDX-License-Identifier: Apache-2.0
 *
 * Tasks that yield until another task has gone on, which waits for an operation: where only idle threads poll
 * (MARLINE_PROGRESS=idle), a thread that has nothing but yielded tasks is idle. Otherwise no thread would ever poll;
 * then the alarm ends the program. From one yielding task, which finds no other, to several per thread.
 *
 * Covers: marline progress hooks, marline events, taskyield
 */
#include "../check.h"
#include <marline/marline.h>
#include <omp.h>

static marline_event_t event;
static int posted, gone_on;
static marline_hook_t* hook;

static int poll_event(void* unused) {
  (void)unused;
  if (!__atomic_exchange_n(&posted, 0, __ATOMIC_ACQUIRE)) return 0;
  marline_event_fulfill(&event);
  marline_progress_add(hook, -1);
  return 1;
}

static void wait_for_operation(void) {
  marline_event_init(&event);
  marline_progress_add(hook, 1);
  __atomic_store_n(&posted, 1, __ATOMIC_RELEASE);
  marline_event_wait(&event);
  __atomic_store_n(&gone_on, 1, __ATOMIC_RELEASE);
}

static void yield_until_gone_on(void) {
  while (!__atomic_load_n(&gone_on, __ATOMIC_ACQUIRE)) {
#pragma omp taskyield
  }
}

static void create(int yielding) {
#pragma omp task untied
  wait_for_operation();
  for (int i = 1; i < yielding; i++) {
#pragma omp task untied
    yield_until_gone_on();
  }
}

static void in_region(int yielding) {
  gone_on = 0;
#pragma omp parallel
  {
#pragma omp single nowait
    create(yielding);
    /* Every thread has something to do: no thread waits at the barrier. */
    yield_until_gone_on();
  }
  CHECK_EQ(gone_on, 1);
}

static void tied(int yielding) {
  gone_on = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task
    wait_for_operation();
    for (int i = 0; i < yielding; i++) {
#pragma omp task
      yield_until_gone_on();
    }
  }
  CHECK_EQ(gone_on, 1);
}

int main(void) {
  alarm(100);
  hook = marline_progress_register("yields", poll_event, NULL);
  CHECK(hook != NULL);
  for (int yielding = 1; yielding <= 3 * omp_get_max_threads(); yielding++) {
    in_region(yielding);
    tied(yielding);
  }
  marline_progress_unregister(hook);
  return 0;
}
