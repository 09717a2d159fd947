/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that the runtime has never seen fulfil events: while the team waits at a barrier, a taskwait or a taskgroup
 * with all its tasks suspended and all its workers asleep. And such a thread may wait for an event itself.
 *
 * Covers: marline events, marline suspension
 */
#include "../check.h"
#include <marline/marline.h>
#include <omp.h>
#include <pthread.h>
#include <stdint.h>

enum { kTasks = 50 };

static marline_event_t events[kTasks];
static int written[kTasks];

static void* fulfil_all(void* delay) {
  usleep((useconds_t)(uintptr_t)delay);
  for (int t = kTasks - 1; t >= 0; t--) {
    written[t] = t + 1;
    if (t % 2)
      marline_event_fulfill(&events[t]);
    else
      omp_fulfill_event((omp_event_handle_t)(uintptr_t)&events[t]);
  }
  return NULL;
}

static void create_waiting_tasks(int* resumed) {
  for (int t = 0; t < kTasks; t++) {
#pragma omp task untied firstprivate(t, resumed)
    {
      CHECK_EQ(marline_can_suspend(), 1);
      marline_event_wait(&events[t]);
      CHECK_EQ(marline_event_test(&events[t]), 1);
      CHECK_EQ(written[t], t + 1);
#pragma omp atomic
      (*resumed)++;
    }
  }
}

static void team_waits(int way, long delay) {
  pthread_t thread;
  int resumed = 0;
  for (int t = 0; t < kTasks; t++) {
    marline_event_init(&events[t]);
    CHECK_EQ(marline_event_test(&events[t]), 0);
    written[t] = 0;
  }
  CHECK_EQ(pthread_create(&thread, NULL, fulfil_all, (void*)(uintptr_t)delay), 0);
#pragma omp parallel shared(resumed)
  {
#pragma omp single nowait
    {
      if (way == 0) {
        create_waiting_tasks(&resumed);
      } else if (way == 1) {
        create_waiting_tasks(&resumed);
#pragma omp taskwait
        CHECK_EQ(resumed, kTasks);
      } else {
#pragma omp taskgroup
        create_waiting_tasks(&resumed);
        CHECK_EQ(resumed, kTasks);
      }
    }
#pragma omp barrier
    CHECK_EQ(resumed, kTasks);
  }
  CHECK_EQ(pthread_join(thread, NULL), 0);
}

static marline_event_t from_task;

static void* wait_here(void* result) {
  marline_event_wait(&from_task);
  *(int*)result += 1;
  return NULL;
}

static void foreign_thread_waits(void) {
  pthread_t thread;
  int result = 0;
  marline_event_init(&from_task);
  CHECK_EQ(pthread_create(&thread, NULL, wait_here, &result), 0);
#pragma omp parallel
#pragma omp single
  {
#pragma omp task shared(result)
    {
      usleep(100);
      result = 41;
      marline_event_fulfill(&from_task);
    }
  }
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK_EQ(result, 42);
}

int main(void) {
  for (int round = 0; round < 20; round++) {
    for (int way = 0; way < 3; way++) {
      team_waits(way, 0);
      team_waits(way, 3000);
    }
    foreign_thread_waits();
  }
  return 0;
}
