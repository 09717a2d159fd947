/* SPDX-License-Identifier: Apache-2.0
 *
 * exit() within a region, by whichever thread, in nested regions and in tasks, while the others work, wait at a barrier
 * or open regions: the process ends with the status, and its handlers have run, which may open regions themselves.
 *
 * Covers: marline process, parallel, task, barrier
 */
#include "../forked.h"
#include <omp.h>
#include <pthread.h>
#include <sched.h>

enum { kStatus = 3, kHandled = 7, kSeconds = 100, kRounds = 4 };

/* What the handler does tells that it ran. */
static void handler(void) {
  int members = 0;
#pragma omp parallel num_threads(2) reduction(+ : members)
  members++;
  _exit(members >= 1 && members <= 2 ? kHandled : 1);
}

static void by_one_at_barrier(int who) {
#pragma omp parallel
  {
    if (omp_get_thread_num() == who % omp_get_num_threads()) exit(kStatus);
#pragma omp barrier
  }
}

static void while_others_work(int who) {
#pragma omp parallel
  {
    if (omp_get_thread_num() == who % omp_get_num_threads()) exit(kStatus);
    for (;;) sched_yield();
  }
}

static void in_nested(int who) {
  omp_set_max_active_levels(2);
#pragma omp parallel
  {
#pragma omp parallel num_threads(2)
    if (omp_get_ancestor_thread_num(1) == who % omp_get_team_size(1) &&
        omp_get_thread_num() == omp_get_num_threads() - 1)
      exit(kStatus);
  }
}

static void in_task(int who) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 50; i++) {
#pragma omp task firstprivate(i)
    if (i == 10 * who) exit(kStatus);
  }
}

static void* open_regions(void* argument) {
  for (;;) {
#pragma omp parallel num_threads(2)
    sched_yield();
  }
  return argument;
}

static void beside_another(int who) {
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, open_regions, NULL), 0);
  usleep(500 * who);
  by_one_at_barrier(who);
}

static void in_child(void (*end)(int), int who, int with_handler) {
  fflush(NULL);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    alarm(kSeconds); /* one that hangs ends by a signal */
    omp_set_dynamic(0);
    if (with_handler) atexit(handler);
    end(who);
    _exit(1);
  }
  expect_exit(child, with_handler ? kHandled : kStatus);
}

int main(void) {
  static void (*const ends[])(int) = {by_one_at_barrier, while_others_work, in_nested, in_task, beside_another};
  for (unsigned i = 0; i < sizeof ends / sizeof *ends; i++)
    for (int who = 0; who < kRounds; who++) in_child(ends[i], who, who % 2);
  return 0;
}
