/* SPDX-License-Identifier: Apache-2.0
 *
 * marline_taskgroup_cancel_later: which tasks run and which do not, where the order of creation and the order in which
 * they become ready differ. A gate keeps all others back until the cancelling task has made its call.
 *
 * Covers: marline later cancellation, task(depend:in, if, final), taskloop(if, grainsize)
 */
#include "../check.h"
#include <marline/marline.h>
#include <omp.h>

enum { kTasks = 100 };

static _Atomic int ran[kTasks];
static marline_event_t opened;
static char gate;

static void close_gate(void) {
  (void)gate; /* GCC does not count a depend clause as a use */
  for (int i = 0; i < kTasks; i++) ran[i] = 0;
  marline_event_init(&opened);
#pragma omp task depend(out : gate)
  marline_event_wait(&opened);
}

static void create_gated(int first, int end) {
  for (int i = first; i < end; i++) {
#pragma omp task depend(in : gate) firstprivate(i)
    ran[i]++;
  }
}

static void check_ran(int first, int end, int times) {
  for (int i = first; i < end; i++) CHECK_EQ(ran[i], times);
}

static void wait_until_cancelled(void) {
  while (!marline_taskgroup_cancelled()) {
#pragma omp taskyield
  }
}

static void earlier_run_later_do_not(void) {
#pragma omp taskgroup
  {
    CHECK_EQ(marline_taskgroup_cancelled(), 0);
    close_gate();
    create_gated(0, 40);
#pragma omp task depend(out : ran[0]) /* and its descendants, though created later than all others */
    {
      wait_until_cancelled();
#pragma omp task
      {
#pragma omp task
        ran[40]++;
      }
    }
#pragma omp task
    {
      marline_taskgroup_cancel_later();
      CHECK_EQ(marline_taskgroup_cancelled(), 1);
      CHECK_EQ(marline_task_cancelled(), 0);
#pragma omp task
      ran[41]++;
    }
    create_gated(42, 80);
    wait_until_cancelled();
    create_gated(80, 90);
#pragma omp task
    ran[90]++;
#pragma omp taskloop num_tasks(9) nogroup
    for (int i = 91; i < kTasks; i++) ran[i]++;
    marline_event_fulfill(&opened);
  }
  CHECK_EQ(marline_taskgroup_cancelled(), 0);
  check_ran(0, 42, 1);
  check_ran(42, kTasks, 0);
#pragma omp task depend(out : gate) /* comes after tasks that did not run */
  ran[42]++;
#pragma omp taskwait
  CHECK_EQ(ran[42], 1);
}

/* The call that comes last is that of the earliest task. */
static void the_earliest_of_several_counts(void) {
  marline_event_t second = MARLINE_EVENT_INIT;
#pragma omp taskgroup
  {
    close_gate();
    create_gated(0, 10);
#pragma omp task shared(second)
    {
      marline_event_wait(&second);
      marline_taskgroup_cancel_later();
      ran[10]++;
      marline_event_fulfill(&opened);
    }
    create_gated(11, 20);
#pragma omp task shared(second)
    {
      marline_taskgroup_cancel_later();
      ran[20]++;
      marline_event_fulfill(&second);
    }
    create_gated(21, 30);
    marline_taskgroup_cancel_later();
    create_gated(30, 40);
  }
  check_ran(0, 11, 1);
  check_ran(11, 20, 0);
  check_ran(20, 21, 1);
  check_ran(21, 40, 0);
}

static void loop_that_cancels(int deferred) {
#pragma omp taskloop grainsize(1) nogroup if (deferred)
  for (int i = 0; i < 10; i++) {
    ran[i]++;
    if (i == 3) marline_taskgroup_cancel_later();
  }
}

/* Tasks of a taskloop that run one after another, as they are created. */
static void undeferred_loops_end(void) {
  for (int in_final = 0; in_final < 2; in_final++) {
    for (int i = 0; i < 10; i++) ran[i] = 0;
#pragma omp task final(in_final) if (0)
    {
#pragma omp taskgroup
      loop_that_cancels(in_final);
    }
    check_ran(0, 4, 1);
    check_ran(4, 10, 0);
  }
}

/* A task that has started knows on which side of the call it is, also in a group of its own, and so do descendants. */
static void started_tasks_know(void) {
  static _Atomic int started;
  started = 0;
  marline_event_init(&opened);
  CHECK_EQ(marline_task_cancelled(), 0);
#pragma omp taskgroup
  {
    for (int i = 0; i < 3; i++) {
#pragma omp task firstprivate(i)
      {
        started++;
        if (i == 1) {
          while (started < 3) {
#pragma omp taskyield
          }
          marline_taskgroup_cancel_later();
          marline_event_fulfill(&opened);
        }
#pragma omp taskgroup
        {
          marline_event_t* event = &opened;
          while (!marline_event_test(event)) {
#pragma omp taskyield
          }
          CHECK_EQ(marline_task_cancelled(), i > 1);
#pragma omp task
          CHECK_EQ(marline_task_cancelled(), i > 1);
        }
        CHECK_EQ(marline_task_cancelled(), i > 1);
      }
    }
    while (!marline_event_test(&opened)) {
#pragma omp taskyield
    }
    CHECK_EQ(marline_task_cancelled(), 0); /* the producer is in no taskgroup */
  }
}

static void innermost_group_only(void) {
#pragma omp taskgroup
  {
    close_gate();
#pragma omp taskgroup
    {
#pragma omp task
      marline_taskgroup_cancel_later();
      wait_until_cancelled();
#pragma omp task
      ran[0]++;
    }
    CHECK_EQ(marline_taskgroup_cancelled(), 0);
    create_gated(1, kTasks);
    marline_event_fulfill(&opened);
  }
  check_ran(0, 1, 0);
  check_ran(1, kTasks, 1);
}

/* Groups in a group that is cancelled: of a task created before, of one created after, and of the producer. */
static void groups_inside(void) {
#pragma omp taskgroup
  {
    close_gate();
#pragma omp task depend(in : gate)
    {
#pragma omp taskgroup
      create_gated(0, 10);
      CHECK_EQ(marline_taskgroup_cancelled(), 1);
#pragma omp taskgroup
      CHECK_EQ(marline_taskgroup_cancelled(), 0);
    }
#pragma omp task
    marline_taskgroup_cancel_later();
#pragma omp task depend(in : gate)
    {
#pragma omp taskgroup
      create_gated(10, 20);
    }
    wait_until_cancelled();
    marline_event_fulfill(&opened);
#pragma omp taskgroup
    {
      CHECK_EQ(marline_taskgroup_cancelled(), 1);
      create_gated(20, 30);
    }
  }
  check_ran(0, 10, 1);
  check_ran(10, 30, 0);
}

static void every_kind_of_task(void) {
  static int set;
  omp_event_handle_t handle = 0;
  (void)set;
#pragma omp taskgroup
  {
    close_gate();
    marline_taskgroup_cancel_later();
#pragma omp task detach(handle) depend(in : gate)
    ran[0]++;
    for (int i = 1; i < 10; i++) {
#pragma omp task depend(mutexinoutset : set) firstprivate(i)
      ran[i]++;
    }
#pragma omp task final(1)
    ran[10]++;
#pragma omp task if (0)
    ran[11]++;
#pragma omp task untied
    ran[12]++;
    marline_event_fulfill(&opened);
#pragma omp taskwait
    omp_fulfill_event(handle); /* of a task that has been over since */
  }
  check_ran(0, 11, 0);
#ifdef __clang__
  check_ran(11, 12, 1); /* the compiler calls it */
#else
  check_ran(11, 12, 0);
#endif
  check_ran(12, 13, 0);
}

/* In a group inside of the one that is cancelled: the descriptors of tasks that were not run are used again. */
static void detachable_in_a_group_inside(void) {
  enum { kRounds = 200 };
  static omp_event_handle_t seen[kRounds];
  int distinct = 0;
  for (int round = 0; round < kRounds; round++) {
    omp_event_handle_t handle = 0;
#pragma omp taskgroup
    {
      marline_taskgroup_cancel_later();
#pragma omp taskgroup
      {
#pragma omp task detach(handle)
        CHECK(0);
      }
      omp_fulfill_event(handle); /* the group that is cancelled has not ended */
    }
    int known = 0;
    while (known < distinct && seen[known] != handle) known++;
    if (known == distinct) seen[distinct++] = handle;
  }
  CHECK(distinct < kRounds / 2);
}

/* Included tasks, all run by one thread at their creation. */
static void in_a_final_task(void) {
#pragma omp task final(1)
  {
    for (int i = 0; i < kTasks; i++) ran[i] = 0;
#pragma omp taskgroup
    for (int i = 0; i < kTasks; i++) {
#pragma omp task firstprivate(i)
      {
        ran[i]++;
        if (i == 20) marline_taskgroup_cancel_later();
      }
    }
    check_ran(0, 21, 1);
    check_ran(21, kTasks, 0);
  }
#pragma omp taskwait
}

/* Detachable tasks of a persistent graph, cancelled in one iteration after the other: their descriptors come back while
 * their events may still be fulfilled, which holds until the taskgroup around has ended, also after the graph has. */
static void in_a_persistent_graph(void) {
  enum { kIterations = 8, kCancelled = 3, kEach = 4 };
  for (int i = 0; i < kTasks; i++) ran[i] = 0;
  omp_event_handle_t handles[kEach];
#pragma omp taskgroup
  {
    MARLINE_GRAPH_FOR(int it = 0, it < kIterations, ++it, MARLINE_GRAPH_BARRIER) {
#pragma omp taskgroup
      for (int k = 0; k < kEach; k++) {
        omp_event_handle_t event;
#pragma omp task detach(event) firstprivate(it, k)
        {
          ran[kEach * it + k]++;
          omp_fulfill_event(event);
        }
      }
      for (int k = 0; k < kEach; k++) {
        omp_event_handle_t event;
#pragma omp task detach(event) firstprivate(it, k)
        {
          ran[kEach * (kIterations + it) + k]++;
          omp_fulfill_event(event);
        }
        handles[k] = event;
      }
#pragma omp task firstprivate(it)
      if (it == kCancelled) marline_taskgroup_cancel_later();
    }
    for (int k = 0; k < kEach; k++) omp_fulfill_event(handles[k]);
  }
  for (int group = 0; group < 2; group++) {
    int first = group * kEach * kIterations;
    check_ran(first, first + kEach * (kCancelled + 1), 1);
    check_ran(first + kEach * (kCancelled + 1), first + kEach * kIterations, 0);
  }
}

int main(void) {
  for (int round = 0; round < 20; round++) {
#pragma omp parallel
#pragma omp single
    {
      earlier_run_later_do_not();
      the_earliest_of_several_counts();
      undeferred_loops_end();
      started_tasks_know();
      innermost_group_only();
      groups_inside();
      every_kind_of_task();
      detachable_in_a_group_inside();
      in_a_final_task();
      in_a_persistent_graph();
    }
  }
  return 0;
}
