/* SPDX-License-Identifier: Apache-2.0
 *
 * A task suspends while it holds an OpenMP lock or is inside `critical`; others contend. The threads must go on with
 * other tasks rather than block on the lock: on one thread the holder could otherwise never resume. Exclusion holds.
 *
 * Covers: marline suspension, critical, omp_set_lock, omp_unset_lock
 */
#include "../check.h"
#include <marline/marline.h>
#include <omp.h>

enum { kTasks = 40 };

static marline_event_t gate;
static int inside, passed;
static omp_lock_t lock;
static omp_nest_lock_t nest_lock;

static void hold(int suspend) {
  CHECK_EQ(__atomic_fetch_add(&inside, 1, __ATOMIC_RELAXED), 0);
  if (suspend) marline_event_wait(&gate);
  passed++;
  CHECK_EQ(__atomic_fetch_sub(&inside, 1, __ATOMIC_RELAXED), 1);
}

static void under_a_lock(int suspend) {
  omp_set_lock(&lock);
  hold(suspend);
  omp_unset_lock(&lock);
}

static void under_a_nest_lock(int suspend) {
  omp_set_nest_lock(&nest_lock);
  omp_set_nest_lock(&nest_lock);
  hold(suspend);
  omp_unset_nest_lock(&nest_lock);
  omp_unset_nest_lock(&nest_lock);
}

static void in_critical(int suspend) {
#pragma omp critical(held)
  hold(suspend);
}

static void by_testing(int suspend) {
  while (!omp_test_lock(&lock)) {
#pragma omp taskyield
  }
  hold(suspend);
  omp_unset_lock(&lock);
}

static void contend(void (*body)(int), int untied) {
  int started = 0;
  marline_event_init(&gate);
  passed = inside = 0;
#pragma omp parallel shared(started)
#pragma omp single
  {
#pragma omp task
    body(1);
    while (__atomic_load_n(&inside, __ATOMIC_ACQUIRE) == 0) {
#pragma omp taskyield
    }
    for (int t = 0; t < kTasks; t++) {
      if (untied) {
#pragma omp task untied
        {
          __atomic_add_fetch(&started, 1, __ATOMIC_RELAXED);
          body(0);
        }
      } else {
#pragma omp task
        {
          __atomic_add_fetch(&started, 1, __ATOMIC_RELAXED);
          body(0);
        }
      }
    }
    /* Only when all contend is the holder let go: a thread that blocked on the lock would never get here. */
    while (__atomic_load_n(&started, __ATOMIC_RELAXED) < kTasks) {
#pragma omp taskyield
    }
    CHECK_EQ(passed, 0);
    marline_event_fulfill(&gate);
  }
  CHECK_EQ(passed, kTasks + 1);
}

int main(void) {
  omp_init_lock(&lock);
  omp_init_nest_lock(&nest_lock);
  void (*bodies[])(int) = {under_a_lock, under_a_nest_lock, in_critical, by_testing};
  for (int round = 0; round < 10; round++)
    for (unsigned b = 0; b < sizeof bodies / sizeof *bodies; b++) {
      contend(bodies[b], 0);
      contend(bodies[b], 1);
    }
  omp_destroy_lock(&lock);
  omp_destroy_nest_lock(&nest_lock);
  return 0;
}
