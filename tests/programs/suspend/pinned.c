/* SPDX-License-Identifier: Apache-2.0
 *
 * An untied task that takes part in a task reduction holds its thread's copy: it must stay on that thread, also over a
 * suspension; and an undeferred one must leave its creator as tied as it was.
 *
 * Covers: marline suspension, task(untied, in_reduction), taskgroup(task_reduction)
 */
#include "../check.h"
#include <marline/marline.h>
#include <omp.h>
#include <pthread.h>

enum { kTasks = 2000 };

static marline_event_t events[kTasks];

static void suspend_with_copy(void) {
  long x = 0, moved = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : x)
  {
    for (int i = 0; i < kTasks; i++) {
      marline_event_init(&events[i]);
#pragma omp task untied in_reduction(+ : x) shared(moved) firstprivate(i)
      {
        long* copy = &x;
        pthread_t thread = pthread_self();
        *copy += 1;
        marline_event_wait(&events[i]);
        if (!pthread_equal(thread, pthread_self())) {
#pragma omp atomic
          moved++;
        }
        *copy += 1;
      }
    }
    for (int i = 0; i < kTasks; i++) marline_event_fulfill(&events[i]);
  }
  CHECK_EQ(moved, 0);
  CHECK_EQ(x, 2 * kTasks);
}

static void undeferred_with_copy(void) {
  long x = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
  {
    pthread_t thread = pthread_self();
#pragma omp taskgroup task_reduction(+ : x)
    for (int i = 0; i < 3; i++) {
#pragma omp task untied if (0) in_reduction(+ : x)
      x += 1;
    }
    for (int round = 0; round < 300; round++) {
      for (int i = 0; i < 8; i++) {
#pragma omp task
        for (volatile int spin = 0; spin < 1000; spin++) {
        }
      }
#pragma omp taskwait
      CHECK(pthread_equal(thread, pthread_self())); /* the implicit task is tied */
    }
  }
  CHECK_EQ(x, 3);
}

int main(void) {
  suspend_with_copy();
  undeferred_with_copy();
  return 0;
}
