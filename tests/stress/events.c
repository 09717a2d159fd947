/* SPDX-License-Identifier: Apache-2.0
 *
 * Tasks that wait for events which other tasks, a thread of the program's own, and a progress hook fulfil, before,
 * while and after they are waited for; tied and untied. Every wait must return exactly once, after its fulfilment. */
#include <pthread.h>
#include <sched.h>

#include "marline/marline.h"
#include "stress.h"

#define EVENTS 300

static marline_event_t events[EVENTS];
static int payload[EVENTS]; /* plain: written before the fulfilment, read after the wait */
static int woken[EVENTS];
static marline_event_t for_thread[EVENTS], for_hook[EVENTS];
static int hook_next, thread_go;
static marline_hook_t* hook;

static int poll_one(void* arg) {
  (void)arg;
  int i = hook_next;
  if (i == EVENTS) return 0;
  hook_next = i + 1;
  marline_event_fulfill(&for_hook[i]);
  marline_progress_add(hook, -1);
  return 1;
}

static void* foreign(void* arg) {
  (void)arg;
  while (!__atomic_load_n(&thread_go, __ATOMIC_ACQUIRE)) sched_yield();
  for (int i = 0; i < EVENTS; ++i) marline_event_fulfill(&for_thread[i]);
  return NULL;
}

static void wait_for_all_three(int i) {
  marline_event_wait(&events[i]);
  CHECK(payload[i] == i + 1, "event %d: payload %d", i, payload[i]);
  marline_event_wait(&for_thread[i]);
  marline_event_wait(&for_hook[i]);
  woken[i]++;
}

static void one_round(uint64_t seed) {
  uint64_t state = seed;
  pthread_t thread;
  for (int i = 0; i < EVENTS; ++i) {
    marline_event_init(&events[i]);
    marline_event_init(&for_thread[i]);
    marline_event_init(&for_hook[i]);
    payload[i] = woken[i] = 0;
  }
  hook_next = 0;
  __atomic_store_n(&thread_go, 0, __ATOMIC_RELAXED);
  CHECK(pthread_create(&thread, NULL, foreign, NULL) == 0, "pthread_create");
  int first = below(&state, EVENTS);
#pragma omp parallel
#pragma omp single
  {
    for (int k = 0; k < EVENTS; ++k) {
      int i = (first + k) % EVENTS;
      if (next_random(&state) & 1) {
#pragma omp task firstprivate(i)
        wait_for_all_three(i);
      } else {
#pragma omp task untied firstprivate(i)
        wait_for_all_three(i);
      }
      if (k == EVENTS / 2) {
        __atomic_store_n(&thread_go, 1, __ATOMIC_RELEASE);
        marline_progress_add(hook, EVENTS);
      }
#pragma omp task firstprivate(i)
      {
        payload[i] = i + 1;
        marline_event_fulfill(&events[i]);
      }
    }
  }
  pthread_join(thread, NULL);
  for (int i = 0; i < EVENTS; ++i) CHECK(woken[i] == 1, "task %d came back %d times", i, woken[i]);
}

int main(int argc, char** argv) {
  uint64_t seed = argument(argc, argv, 1, 1), rounds = argument(argc, argv, 2, 20);
  hook = marline_progress_register("stress", poll_one, NULL);
  CHECK(hook != NULL, "no hook");
  for (uint64_t round = 0; round < rounds; ++round) one_round(seed * 1000003u + round);
  marline_progress_unregister(hook);
  return 0;
}
