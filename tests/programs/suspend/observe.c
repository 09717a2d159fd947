/* SPDX-License-Identifier: Apache-2.0
 *
 * marline_suspend_observe: the observer is called once for every suspension, of explicit and of implicit tasks, on the
 * thread and the stack of the task; and no more once it is taken out.
 *
 * Covers: marline suspension
 */
#include "../check.h"
#include <marline/marline.h>
#include <omp.h>
#include <pthread.h>
#include <stdint.h>

enum { kTasks = 40, kMostBelow = 64 * 1024 };

static _Thread_local int* own_count; /* of the task that is about to wait */
static _Thread_local char* own_frame;
static int observed[kTasks];
static int total;
static marline_event_t events[kTasks];

static void observe(void) {
  char here;
  if (own_count == NULL) return; /* another suspension: of the single task, at its barrier */
  CHECK(own_frame > &here && own_frame - &here < kMostBelow);
  (*own_count)++;
  own_count = NULL;
  __atomic_add_fetch(&total, 1, __ATOMIC_RELEASE);
}

static void nothing(void) {}

/* Only when all are suspended: so each wait is a suspension. */
static void* fulfil_all(void* how_many) {
  const int wanted = (int)(intptr_t)how_many;
  while (__atomic_load_n(&total, __ATOMIC_ACQUIRE) < wanted) usleep(100);
  for (int t = 0; t < wanted; t++) marline_event_fulfill(&events[t]);
  return NULL;
}

static void begin(pthread_t* thread, int tasks) {
  total = 0;
  for (int t = 0; t < tasks; t++) {
    observed[t] = 0;
    marline_event_init(&events[t]);
  }
  CHECK_EQ(pthread_create(thread, NULL, fulfil_all, (void*)(intptr_t)tasks), 0);
}

static void end(pthread_t thread, int tasks) {
  CHECK_EQ(pthread_join(thread, NULL), 0);
  for (int t = 0; t < tasks; t++) CHECK_EQ(observed[t], 1);
}

static void wait_for(int t) {
  char here;
  own_frame = &here;
  own_count = &observed[t];
  marline_event_wait(&events[t]);
}

static void explicit_tasks(void) {
  pthread_t thread;
  begin(&thread, kTasks);
#pragma omp parallel
#pragma omp single
  for (int t = 0; t < kTasks; t++) {
#pragma omp task firstprivate(t) untied
    wait_for(t);
  }
  end(thread, kTasks);
}

static void implicit_tasks(void) {
  const int threads = omp_get_max_threads();
  pthread_t thread;
  begin(&thread, threads);
#pragma omp parallel num_threads(threads)
  wait_for(omp_get_thread_num());
  end(thread, threads);
}

static void unobserved(void) {
  marline_event_t event = MARLINE_EVENT_INIT;
  total = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task shared(event)
    {
      own_count = &observed[0];
      marline_event_wait(&event);
    }
#pragma omp task shared(event)
    marline_event_fulfill(&event);
  }
  own_count = NULL;
  CHECK_EQ(total, 0);
}

int main(void) {
  marline_suspend_observe(nothing);
  marline_suspend_observe(observe); /* the last one counts */
  explicit_tasks();
  implicit_tasks();
  marline_suspend_observe(NULL);
  unobserved();
  return 0;
}
