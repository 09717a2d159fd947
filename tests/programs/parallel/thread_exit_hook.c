/* SPDX-License-Identifier: Apache-2.0
 *
 * As thread_exit_main, of a program in which operations have started the watchdog: it ends with the program's threads,
 * also out of a long nap ("nap": MARLINE_WATCHDOG is half an hour), but not while an operation is pending, as a thread
 * that the runtime does not know may wait for it.
 *
 * Covers: marline process, marline progress hooks, marline events
 */
#include "../forked.h"
#include <marline/marline.h>
#include <omp.h>
#include <pthread.h>

enum { kHandled = 7, kSeconds = 100 };

static marline_hook_t* hook;
static marline_event_t event;
static int due, waited, posted;

static int poll_event(void* unused) {
  (void)unused;
  if (!__atomic_load_n(&due, __ATOMIC_ACQUIRE) || waited) return 0;
  waited = 1;
  marline_event_fulfill(&event);
  marline_progress_add(hook, -1);
  return 1;
}

static void post(void) {
  waited = due = 0;
  marline_event_init(&event);
  marline_progress_add(hook, 1);
}

static void in_a_task(void) {
  post();
#pragma omp parallel
#pragma omp single
#pragma omp task untied
  {
    usleep(5000); /* the watchdog naps */
    __atomic_store_n(&due, 1, __ATOMIC_RELEASE);
    marline_event_wait(&event);
  }
  CHECK_EQ(waited, 1);
}

/* Not known to the runtime: it sleeps in the call, and only the watchdog is left to poll. */
static void* wait_outside(void* unused) {
  post();
  __atomic_store_n(&posted, 1, __ATOMIC_RELEASE);
  usleep(20000); /* main has ended */
  __atomic_store_n(&due, 1, __ATOMIC_RELEASE);
  marline_event_wait(&event);
  CHECK_EQ(waited, 1);
  return unused;
}

/* The watchdog has ended. Another one starts. */
static void* wait_later(void* unused) {
  usleep(20000);
  post();
  __atomic_store_n(&due, 1, __ATOMIC_RELEASE);
  marline_event_wait(&event);
  CHECK_EQ(waited, 1);
  return unused;
}

static void nobody(void) {}

static void beside(void* (*function)(void*)) {
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, function, NULL), 0);
  pthread_detach(thread);
}

static void one_that_waits(void) {
  beside(wait_outside);
  while (!__atomic_load_n(&posted, __ATOMIC_ACQUIRE)) usleep(100);
}

static void one_that_will_wait(void) { beside(wait_later); }

static void handler(void) { _exit(kHandled); }

static void in_child(void (*beside_main)(void)) {
  pid_t child = fork_bound();
  if (child == 0) {
    atexit(handler);
    hook = marline_progress_register("thread_exit_hook", poll_event, NULL);
    CHECK(hook != NULL);
    in_a_task();
    beside_main();
    pthread_exit(NULL);
  }
  expect_exit(child, kHandled);
}

int main(int argc, char** argv) {
  alarm(kSeconds); /* a child that hangs ends with its parent, by a signal: threads of the runtime take no other */
  in_child(nobody);
  if (argc > 1 && strcmp(argv[1], "nap") == 0) return 0;
  in_child(one_that_waits);
  in_child(one_that_will_wait);
  return 0;
}
