/* SPDX-License-Identifier: Apache-2.0
 *
 * pthread_exit() in main, as in programs that go on in their other threads: the process ends, with its exit handlers,
 * when the last of the program's own threads has ended. The runtime's threads do not keep it alive. While a thread of
 * the program's is left, whether the runtime knows it or not, the process goes on and regions have their threads.
 *
 * Covers: marline process, parallel, task(detach), teams, omp_fulfill_event
 */
#include "../forked.h"
#include <omp.h>
#include <pthread.h>
#include <stdint.h>

enum { kHandled = 7, kSeconds = 100, kRegions = 50 };

static int is_marline;
static int want;     /* threads of a region */
static int finished; /* what the other thread has to do is done */

static void region(void) {
  int members = 0;
#pragma omp parallel num_threads(want) reduction(+ : members)
  members++;
  CHECK_EQ(members, want);
}

/* Whether exit handlers run is told by the status; a handler may open regions. */
static void handler(void) {
  int members = 0;
#pragma omp parallel num_threads(2) reduction(+ : members)
  members++;
  CHECK_RANGE(members, 1, 2);
  CHECK_EQ(finished, 1);
  _exit(kHandled);
}

/* Late enough that main has ended. */
static void* regions_later(void* argument) {
  usleep(30000);
  for (int i = 0; i < kRegions; i++) region();
  finished = 1;
  return argument;
}

static void* regions_all_the_time(void* argument) {
  for (int i = 0; i < 20 * kRegions; i++) region();
  finished = 1;
  return argument;
}

static void* no_region(void* argument) {
  usleep(30000);
  finished = 1;
  return argument;
}

static void* fulfil_later(void* event) {
  usleep(30000);
  omp_fulfill_event((omp_event_handle_t)(uintptr_t)event);
  finished = 1;
  return NULL;
}

static void start(void* (*function)(void*), void* argument) {
  pthread_t thread;
  finished = 0;
  CHECK_EQ(pthread_create(&thread, NULL, function, argument), 0);
  pthread_detach(thread);
}

static void after_a_region(void) { region(); }

static void after_no_region(void) { CHECK_EQ(omp_get_level(), 0); }

static void after_nested_regions(void) {
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(want)
  {
#pragma omp parallel num_threads(2)
    usleep(10);
  }
#pragma omp teams num_teams(2) thread_limit(2)
  {
#pragma omp parallel
    usleep(10);
  }
}

/* Its threads are known to the runtime, or get known after main has ended, or never. */
static void beside_a_thread_with_regions(void) {
  start(regions_all_the_time, NULL);
  region();
}

static void before_the_first_region_of_another(void) {
  start(regions_later, NULL);
  region();
}

static void beside_a_thread_without_regions(void) {
  start(no_region, NULL);
  region();
}

static void when_threads_sleep(void) {
  region();
  usleep(10000);
}

/* The initial task's own: it is complete when its event is fulfilled, and the thread does not wait for that. */
static void with_a_detached_task_pending(void) {
  if (!is_marline) return; /* libgomp does not end then */
  omp_event_handle_t event = 0;
  int one = 1;
#pragma omp task detach(event) firstprivate(one)
  CHECK_EQ(one, 1);
  region();
  start(fulfil_later, (void*)(uintptr_t)event);
}

static void in_a_child_of_a_child(void) {
  region();
  if (!is_marline) return; /* regions after fork() are more than OpenMP promises */
  pid_t child = fork_bound();
  region();
  if (child == 0) return; /* this one leaves as its parent does */
  expect_exit(child, kHandled);
}

static void in_child(void (*before)(void)) {
  pid_t child = fork_bound();
  if (child == 0) {
    omp_set_dynamic(0);
    want = omp_get_max_threads();
    finished = 1;
    atexit(handler);
    before();
    pthread_exit(NULL);
  }
  expect_exit(child, kHandled);
}

int main(void) {
  alarm(kSeconds); /* a child that hangs ends with its parent, by a signal: threads of the runtime take no other */
  const char* runtime = getenv("MARLINE_TEST_RUNTIME");
  is_marline = runtime && strcmp(runtime, "marline") == 0;
  static void (*const ways[])(void) = {after_a_region,
                                       after_no_region,
                                       after_nested_regions,
                                       beside_a_thread_with_regions,
                                       before_the_first_region_of_another,
                                       beside_a_thread_without_regions,
                                       when_threads_sleep,
                                       with_a_detached_task_pending,
                                       in_a_child_of_a_child};
  for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++) in_child(ways[i]);
  return 0;
}
