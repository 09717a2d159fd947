/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of a library that calls back, on threads that OpenMP knows, in their tasks and regions, and on one that it does
 * not know. In each case: fork() in the call, before, in and after what is called back; the child has none of the
 * threads that the regions of the caller or of the callback have had, opens regions in the call and after it, and its
 * main thread ends with pthread_exit(), which ends the process: no thread of the runtime's keeps it.
 *
 * Covers: marline process, parallel, task
 */
#include "../forked.h"
#include <marline/marline.h>
#include <omp.h>
#include <pthread.h>

enum { kSeconds = 100, kHandled = 7, kThreads = 3 };
enum when { kBefore, kIn, kAfter, kNever };

static void region(int least) {
  int members = 0, tasks = 0;
#pragma omp parallel num_threads(kThreads) reduction(+ : members)
  {
    members++;
#pragma omp single
    for (int i = 0; i < 10; i++) {
#pragma omp task shared(tasks)
#pragma omp atomic
      tasks++;
    }
  }
  CHECK_RANGE(members, least, kThreads);
  CHECK_EQ(tasks, 10);
}

static void task_and_region(void) {
  int done = 0;
#pragma omp task shared(done)
  done = 1;
#pragma omp taskwait
  CHECK_EQ(done, 1);
  region(kThreads);
}

static int is_child;

static void fork_if(int now) {
  if (!now) return;
  pid_t child = fork_bound();
  if (child == 0) {
    is_child = 1;
    alarm(kSeconds);
    return;
  }
  expect_exit(child, kHandled);
}

static void call(enum when when, int depth) {
  marline_library_call_t call_of_library;
  marline_library_enter(&call_of_library);
  fork_if(when == kBefore && depth == 0);
  task_and_region();
  fork_if(when == kIn && depth == 0);
  if (depth > 0) call(when, depth - 1);
  task_and_region();
  fork_if(when == kAfter && depth == 0);
  marline_library_leave(&call_of_library);
}

static void handler(void) { _exit(kHandled); }

/* The forking thread is the child's only one. */
static void end_child(void) {
  if (!is_child) return;
  region(kThreads);
  pthread_exit(NULL);
}

static void one_way(int way) {
  const enum when when = way % 4;
  const int depth = way / 4 % 2, form = way / 8;
  if (form > 0)
    region(kThreads); /* the thread is known, and has a team; else the callback is the first that OpenMP hears of it */
  if (form == 2) {
#pragma omp task if (0)
    call(when, depth);
  } else {
    call(when, depth);
  }
  end_child();
}

/* In a process of its own; the first thread of that process ends with pthread_exit(). */
int main(void) {
  alarm(kSeconds);
  omp_set_dynamic(0);
  omp_set_max_active_levels(2);
  for (int way = 0; way < 4 * 2 * 3; way++) {
    pid_t child = fork_bound();
    if (child == 0) {
      alarm(kSeconds);
      atexit(handler);
      one_way(way);
      pthread_exit(NULL);
    }
    expect_exit(child, kHandled);
  }
  return 0;
}
