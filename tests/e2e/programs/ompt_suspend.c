/* SPDX-License-Identifier: Apache-2.0
 *
 * Tasks that leave their threads in every way there is: taskwait, taskgroup, taskyield, a detached child, an event,
 * a lock; tied and untied, nested, with a region inside a task and undeferred ones. The OMPT test follows the threads.
 * A destructor opens one more region when all is over. */
#include <marline/marline.h>
#include <omp.h>
#include <stdio.h>

#pragma weak marline_event_init
#pragma weak marline_event_wait
#pragma weak marline_event_fulfill

enum { kTasks = 30, kDepth = 4 };

static int done;
static omp_lock_t lock;
static marline_event_t gates[kTasks];

static void count(void) { __atomic_add_fetch(&done, 1, __ATOMIC_RELAXED); }

static void tree(int depth) {
  if (depth == 0) {
    count();
    return;
  }
#pragma omp task untied
  tree(depth - 1);
#pragma omp task
  {
#pragma omp taskyield
    tree(depth - 1);
  }
#pragma omp taskwait
#pragma omp taskyield
}

static void wait_for_event(int i) {
#pragma omp task untied
  {
    marline_event_wait(&gates[i]);
    count();
  }
#pragma omp task
  {
    marline_event_wait(&gates[i + 1]);
#pragma omp taskgroup
    {
#pragma omp task if (0)
      count();
#pragma omp task
      count();
    }
  }
#pragma omp task
  {
    marline_event_fulfill(&gates[i]);
#pragma omp parallel num_threads(2)
    {
#pragma omp single
      tree(1);
    }
    marline_event_fulfill(&gates[i + 1]);
  }
}

static void under_lock(int i) {
#pragma omp task depend(inout : done)
  {
    omp_set_lock(&lock);
#pragma omp taskyield
    omp_unset_lock(&lock);
  }
#pragma omp task firstprivate(i) untied
  {
    omp_set_lock(&lock);
    if (i % 2 == 0) count();
    omp_unset_lock(&lock);
  }
}

static void detached(void) {
  omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp task detach(event)
  count();
#pragma omp task firstprivate(event)
  {
    omp_fulfill_event(event);
    count();
  }
#pragma omp taskwait
}

/* The tool has been told that the process ends, and the threads of the pool with it. */
__attribute__((destructor)) static void after_exit(void) {
  int sum = 0;
#pragma omp parallel reduction(+ : sum)
  sum++;
  printf("afterwards sum=%d\n", sum);
}

int main(void) {
  omp_init_lock(&lock);
  for (int i = 0; i < kTasks; ++i) marline_event_init(&gates[i]);
#pragma omp parallel
#pragma omp single
  {
    tree(kDepth);
    for (int i = 0; i < kTasks; i += 2) {
      wait_for_event(i);
      under_lock(i);
      detached();
    }
  }
  puts("done");
  return done == 0;
}
