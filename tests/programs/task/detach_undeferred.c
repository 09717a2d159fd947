/* SPDX-License-Identifier: Apache-2.0
 *
 * An undeferred task with a detach clause holds its creator until its block has ended, not until its event is fulfilled
 * (OpenMP 5.2, section 1.2.5: undeferred task): the creator may be the one that fulfils it. Successors of the task wait
 * for the event all the same (sections 12.5.2 and 15.9.5), and so does a construct that waits for the task's
 * completion.
 *
 * Covers: task(if, final, detach, depend:in/out/inout/mutexinoutset), taskwait(depend:inout), taskgroup,
 * omp_fulfill_event
 */
#include "../check.h"
#include <omp.h>
#include <pthread.h>
#include <unistd.h>

static int value, other;
static int seen, excluded_ran;

static void set(int* where, int to) { __atomic_store_n(where, to, __ATOMIC_RELEASE); }
static int get(const int* where) { return __atomic_load_n(where, __ATOMIC_ACQUIRE); }

static void yield_often(void) {
  for (int i = 0; i < 100; ++i) {
#pragma omp taskyield
  }
}

static void* write_later(void* event) {
  usleep(20000);
  set(&value, 7);
  omp_fulfill_event(*(omp_event_handle_t*)event);
  return NULL;
}

/* Another thread fulfils the event. */
static void fulfilled_by_thread(void) {
  static pthread_t writer;
  static omp_event_handle_t handle;
  omp_event_handle_t event = (omp_event_handle_t)0;
  value = 0;
#pragma omp task if (0) detach(event) depend(out : value)
  {
    handle = event;
    CHECK_EQ(pthread_create(&writer, NULL, write_later, &handle), 0);
  }
#pragma omp task depend(in : value)
  CHECK_EQ(get(&value), 7);
#pragma omp taskwait depend(inout : value)
  CHECK_EQ(get(&value), 7);
  pthread_join(writer, NULL);
}

/* The creator does, after it has created a successor of each kind. */
static void fulfilled_by_creator(void) {
  omp_event_handle_t event = (omp_event_handle_t)0;
  value = other = seen = excluded_ran = 0;
#pragma omp task depend(out : value, other)
  {
    yield_often();
    value = other = 1;
  }
#pragma omp task if (0) detach(event) depend(inout : value) depend(mutexinoutset : other)
  CHECK_EQ(value, 1); /* what stood before the task has ended */
#pragma omp task depend(in : value)
  {
    CHECK_EQ(get(&value), 2);
    __atomic_add_fetch(&seen, 1, __ATOMIC_ACQ_REL);
  }
#pragma omp task depend(out : value)
  {
    CHECK_EQ(get(&seen), 1);
    set(&value, 3);
  }
#pragma omp task depend(mutexinoutset : other)
  {
    CHECK(get(&value) >= 2);
    set(&excluded_ran, 1);
  }
  yield_often();
  CHECK_EQ(get(&seen), 0);
  CHECK_EQ(get(&excluded_ran), 0);
  set(&value, 2);
  omp_fulfill_event(event);
#pragma omp taskwait
  CHECK_EQ(get(&seen), 1);
  CHECK_EQ(get(&excluded_ran), 1);
  CHECK_EQ(get(&value), 3);
}

/* All tasks of a final task are undeferred: each holds its creator until its predecessors have completed. */
static void included(void) {
  omp_event_handle_t event = (omp_event_handle_t)0;
  int ran = 0;
#pragma omp task detach(event) depend(out : ran) shared(ran)
  ran = 1;
  CHECK_EQ(ran, 1);
  omp_fulfill_event(event);
#pragma omp task depend(inout : ran) shared(ran)
  ++ran;
  CHECK_EQ(ran, 2);
}

/* The task has no successor, or its event is fulfilled before its block ends. */
static void completes_early_or_alone(void) {
  omp_event_handle_t event = (omp_event_handle_t)0;
  int ran = 0;
#pragma omp taskgroup
  {
#pragma omp task if (0) detach(event) depend(out : ran) shared(ran)
    {
      omp_fulfill_event(event);
      ran = 1;
    }
#pragma omp task if (0) depend(in : ran) shared(ran)
    CHECK_EQ(ran, 1);
#pragma omp task if (0) detach(event)
    {
    }
    omp_fulfill_event(event);
  }
}

int main(void) {
#pragma omp parallel
#pragma omp single
  {
    fulfilled_by_thread();
    fulfilled_by_creator();
#pragma omp task final(1)
    included();
#pragma omp taskwait
    completes_early_or_alone();
    for (int i = 0; i < 50; ++i) {
#pragma omp task if (i % 2)
      completes_early_or_alone();
    }
  }
  return 0;
}
