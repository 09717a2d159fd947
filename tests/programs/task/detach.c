/* SPDX-License-Identifier: Apache-2.0
 *
 * detach: a task completes when its body has ended and its event is fulfilled, whichever comes last, and whoever
 * fulfils it: the task itself, another task, a thread that the runtime has never seen; before or after the body ends.
 *
 * Covers: task(if, detach, firstprivate, depend:in/out/inout), taskgroup, taskwait(depend:in), atomic(read, write),
 *  omp_fulfill_event
 */
#include "../check.h"
#include <omp.h>
#include <pthread.h>
#include <stdint.h>

enum { kTasks = 30 };

static void* fulfil_later(void* event) {
  usleep(300);
  omp_fulfill_event((omp_event_handle_t)(uintptr_t)event);
  return NULL;
}

static void fulfil_from_a_foreign_thread(omp_event_handle_t event) {
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, fulfil_later, (void*)(uintptr_t)event), 0);
  CHECK_EQ(pthread_detach(thread), 0);
}

static void by_the_task_itself(void) {
#pragma omp parallel
#pragma omp single
  for (int t = 0; t < kTasks; t++) {
    int x = 0;
    omp_event_handle_t event;
#pragma omp task detach(event) depend(out : x) shared(x)
    {
      x = 1;
      omp_fulfill_event(event);
      x = 2; /* fulfilled before the body ends: the body still counts */
    }
#pragma omp task depend(in : x) shared(x)
    CHECK_EQ(x, 2);
#pragma omp taskwait
  }
}

static void by_another_task(void) {
#pragma omp parallel
#pragma omp single
  for (int t = 0; t < kTasks; t++) {
    int x = 0, y = 0;
    omp_event_handle_t event;
#pragma omp task detach(event) depend(out : x) shared(x)
    x++;
#pragma omp task depend(in : x) shared(x, y)
    {
      int seen;
#pragma omp atomic read
      seen = y;
      CHECK_EQ(x, 1);
      CHECK_EQ(seen, 1);
    }
#pragma omp task firstprivate(event) shared(y)
    {
      usleep(t % 3 * 20);
#pragma omp atomic write
      y = 1;
      omp_fulfill_event(event);
    }
#pragma omp taskwait
  }
}

static void by_a_foreign_thread(void) {
  int bodies = 0, successors = 0;
#pragma omp parallel shared(bodies, successors)
#pragma omp single
  for (int t = 0; t < kTasks; t++) {
    omp_event_handle_t event;
    int* x = malloc(sizeof *x);
#pragma omp task detach(event) depend(out : *x) firstprivate(x, t) shared(bodies)
    {
      *x = t;
#pragma omp atomic
      bodies++;
      if (t % 2) /* the fulfilment may overtake the end of the body */
        usleep(400);
    }
    fulfil_from_a_foreign_thread(event);
#pragma omp task depend(inout : *x) firstprivate(x, t) shared(successors)
    {
      CHECK_EQ(*x, t);
      free(x);
#pragma omp atomic
      successors++;
    }
  }
  CHECK_EQ(bodies, kTasks);
  CHECK_EQ(successors, kTasks); /* the barrier has waited for detached tasks and for their successors */
}

typedef struct {
  omp_event_handle_t event;
  int fulfilled;
} Late;

static void* fulfil_and_note(void* arg) {
  Late* late = arg;
  usleep(500);
  __atomic_store_n(&late->fulfilled, 1, __ATOMIC_RELEASE);
  omp_fulfill_event(late->event);
  return NULL;
}

/* taskwait, taskgroup, an undeferred successor and taskwait with dependences wait for the event, not just the body. */
static void everything_waits_for_it(void) {
#pragma omp parallel
#pragma omp single
  for (int way = 0; way < 12; way++) {
    static Late late;
    late.fulfilled = 0;
    pthread_t thread;
    int x = 0;
#pragma omp taskgroup
    {
      omp_event_handle_t event;
#pragma omp task detach(event) shared(x) depend(out : x)
      x = 1;
      late.event = event;
      CHECK_EQ(pthread_create(&thread, NULL, fulfil_and_note, &late), 0);
      if (way % 4 == 1) {
#pragma omp taskwait
        CHECK_EQ(__atomic_load_n(&late.fulfilled, __ATOMIC_ACQUIRE), 1);
      } else if (way % 4 == 2) {
#pragma omp taskwait depend(in : x)
        CHECK_EQ(__atomic_load_n(&late.fulfilled, __ATOMIC_ACQUIRE), 1);
      } else if (way % 4 == 3) {
#pragma omp task if (0) depend(in : x)
        CHECK_EQ(__atomic_load_n(&late.fulfilled, __ATOMIC_ACQUIRE), 1);
      }
    }
    CHECK_EQ(__atomic_load_n(&late.fulfilled, __ATOMIC_ACQUIRE), 1);
    CHECK_EQ(x, 1);
    CHECK_EQ(pthread_join(thread, NULL), 0);
  }
}

int main(void) {
  for (int round = 0; round < 3; round++) {
    by_the_task_itself();
    by_another_task();
    by_a_foreign_thread();
    everything_waits_for_it();
  }
  return 0;
}
