/* SPDX-License-Identifier: Apache-2.0
 *
 * Holds: a task that took some does not complete before each is released, by whichever thread, before or after its body
 * ends; whoever waits for the task waits for that, too. `released` is set right before the last release: who sees it
 * unset went on too early.
 *
 * Covers: marline events, parallel(num_threads), task(if, final, untied, detach, firstprivate, depend:in/out/inout),
 *  taskgroup
 */
#include "../check.h"
#include "marline/marline.h"
#include <omp.h>
#include <pthread.h>
#include <stdint.h>

enum { kMost = 5, kTasks = 24 };

typedef struct {
  marline_task_t* holds[kMost];
  int count;
  int released;
  pthread_t thread;
} Held;

static void* release_all(void* arg) {
  Held* held = arg;
  usleep(200);
  for (int i = 0; i < held->count; i++) {
    if (i == held->count - 1) __atomic_store_n(&held->released, 1, __ATOMIC_RELAXED); /* the release publishes it */
    marline_task_release(held->holds[i]);
  }
  return NULL;
}

/* The current task takes `count` holds, which a thread that the runtime has never seen releases a little later. */
static void hold(Held* held, int count) {
  held->count = count;
  held->released = 0;
  for (int i = 0; i < count; i++) {
    held->holds[i] = marline_task_hold();
    CHECK(held->holds[i] != NULL);
  }
  CHECK_EQ(pthread_create(&held->thread, NULL, release_all, held), 0);
}

static void check_released(Held* held) {
  CHECK_EQ(held->released, 1);
  CHECK_EQ(pthread_join(held->thread, NULL), 0);
}

static void successors_wait(void) {
  static Held held[kTasks];
#pragma omp parallel
#pragma omp single
  for (int t = 0; t < kTasks; t++) {
#pragma omp task depend(out : held[t])
    {
      hold(&held[t], 1 + t % kMost);
      if (t % 3 == 0) /* all releases may come before the end of the body */
        usleep(600);
    }
#pragma omp task depend(inout : held[t])
    check_released(&held[t]);
  }
}

static void everybody_waits(void) {
  static Held held;
#pragma omp parallel
#pragma omp single
  for (int way = 0; way < 16; way++) {
    int x = 0;
#pragma omp taskgroup
    {
#pragma omp task shared(x) depend(out : x) untied if (way % 4 != 3)
      hold(&held, 2 + x);
      if (way % 4 == 1) {
#pragma omp taskwait
        CHECK_EQ(held.released, 1);
      } else if (way % 4 == 2) {
#pragma omp task if (0) depend(in : x)
        CHECK_EQ(held.released, 1);
      } else if (way % 4 == 3) { /* an undeferred task is over */
        CHECK_EQ(held.released, 1);
      }
    }
    check_released(&held);
  }
}

static void final_tasks_wait(void) {
#pragma omp parallel
#pragma omp single
  for (int t = 0; t < 6; t++) {
#pragma omp task final(1)
    {
      Held held;
#pragma omp task shared(held)
      hold(&held, 3);
      check_released(&held);
    }
  }
}

static void a_child_is_waited_for_in_a_held_task(void) {
  static Held outer, inner;
#pragma omp parallel
#pragma omp single
  for (int t = 0; t < 6; t++) {
#pragma omp taskgroup
    {
#pragma omp task
      {
        hold(&outer, 2);
#pragma omp task
        hold(&inner, 1);
#pragma omp taskwait
        check_released(&inner);
      }
    }
    check_released(&outer);
  }
}

/* The event of a detach clause and holds: whichever comes last. */
static void with_a_detach_clause(void) {
  static Held held[kTasks];
  static int fulfilled[kTasks];
#pragma omp parallel
#pragma omp single
  for (int t = 0; t < kTasks; t++) {
    omp_event_handle_t event;
    fulfilled[t] = 0;
#pragma omp task detach(event) depend(out : held[t])
    {
      hold(&held[t], 1 + t % 2);
      if (t % 4 == 0) usleep(600);
    }
#pragma omp task depend(in : held[t])
    {
      CHECK_EQ(fulfilled[t], 1);
      check_released(&held[t]);
    }
    if (t % 3 == 0) usleep(500);
    fulfilled[t] = 1;
    omp_fulfill_event(event);
  }
}

static void implicit_tasks(void) {
  static Held held[64];
#pragma omp parallel num_threads(omp_get_max_threads() < 8 ? omp_get_max_threads() : 8)
  {
    int me = omp_get_thread_num();
    hold(&held[me], 2);
#pragma omp barrier
    for (int i = 0; i < omp_get_num_threads(); i++) CHECK_EQ(held[i].released, 1);
#pragma omp barrier
    check_released(&held[me]);
    hold(&held[me], 1);
#pragma omp taskwait /* is not for the task itself */
  }
  for (int i = 0; i < 8 && i < omp_get_max_threads(); i++) check_released(&held[i]);
}

static void nothing_to_hold(void) {
  CHECK(marline_task_hold() == NULL);
#pragma omp parallel num_threads(1)
  {
    marline_task_t* task = marline_task_hold(); /* a region of one thread has a barrier, too */
    CHECK(task != NULL);
    marline_task_release(task);
  }
#pragma omp task /* outside of regions */
  {
    marline_task_t* task = marline_task_hold();
    CHECK(task != NULL);
    marline_task_release(task);
  }
}

/* The same tasks again and again; the last iterations differ from the record while held tasks are under way. */
static void persistent(int mode) {
  enum { kIterations = 8, kEach = 4 };
  static Held held[kIterations][kEach];
#pragma omp parallel
#pragma omp single
  {
    int chain[kEach] = {0};
    marline_graph_t* graph = marline_graph_begin(mode);
    for (int it = 0; it < kIterations; it++) {
      marline_graph_iterate(graph);
      for (int i = 0; i < kEach; i++) {
#pragma omp task depend(inout : chain[i]) firstprivate(it, i) shared(chain)
        {
          if (it > 0) CHECK_EQ(held[it - 1][i].released, 1);
          hold(&held[it][i], 1 + chain[i] + i % 2);
        }
        if (it >= 5 && i == it % kEach) {
#pragma omp task depend(inout : chain[i]) firstprivate(it, i)
          CHECK_EQ(held[it][i].released, 1);
        }
      }
    }
    marline_graph_end(graph);
    for (int it = 0; it < kIterations; it++)
      for (int i = 0; i < kEach; i++) check_released(&held[it][i]);
  }
}

/* Tasks that are cancelled take no holds; one that runs keeps its own until they are released. */
static void cancelled(void) {
  static Held held;
  static int ran;
#pragma omp parallel
#pragma omp single
  {
    int x = 0;
    ran = 0;
#pragma omp taskgroup
    {
#pragma omp task depend(inout : x) shared(x)
      {
        hold(&held, 2 + x);
        marline_taskgroup_cancel_later();
      }
#pragma omp task depend(inout : x) shared(x)
      ran = 1;
    }
    check_released(&held);
    CHECK_EQ(ran, 0);
  }
}

int main(void) {
  for (int round = 0; round < 3; round++) {
    successors_wait();
    everybody_waits();
    final_tasks_wait();
    a_child_is_waited_for_in_a_held_task();
    with_a_detach_clause();
    implicit_tasks();
    nothing_to_hold();
    persistent(MARLINE_GRAPH_BARRIER);
    persistent(MARLINE_GRAPH_NOWAIT);
    cancelled();
  }
  return 0;
}
