/* SPDX-License-Identifier: Apache-2.0
 *
 * cancel and cancellation point for parallel, for, sections and taskgroup; with OMP_CANCELLATION false, the same
 * programs do everything. Threads that wait for a cancellation have no other way out, so one that is not seen is a
 * timeout. Between cancelled regions, ordinary ones show that the team is whole.
 *
 * Covers: cancel(parallel, for, sections, taskgroup, if), cancellation point(parallel, for, sections, taskgroup),
 *  omp_get_cancellation, OMP_CANCELLATION
 */
#include "../check.h"
#include <omp.h>
#include <sched.h>

static int on, threads;

enum { kRounds = 400 };

static int chosen(int round) { return round % threads; }

/* Uses what remains in a team after a region: barriers, singles, loops with shared state. */
static void check_team(void) {
  enum { kPhases = 3, kIterations = 64 };
  int phase[kPhases] = {0}, singles = 0, iterations = 0, tasks = 0;
#pragma omp parallel num_threads(threads)
  {
    CHECK_EQ(omp_get_num_threads(), threads);
    for (int i = 0; i < kPhases; i++) {
#pragma omp atomic
      phase[i]++;
#pragma omp barrier
      int arrived;
#pragma omp atomic read
      arrived = phase[i];
      CHECK_EQ(arrived, threads);
#pragma omp single nowait
      {
#pragma omp atomic
        singles++;
      }
#pragma omp for schedule(dynamic, 3) nowait
      for (int k = 0; k < kIterations; k++) {
#pragma omp atomic
        iterations++;
      }
#pragma omp task shared(tasks)
      {
#pragma omp atomic
        tasks++;
      }
    }
  }
  CHECK_EQ(singles, kPhases);
  CHECK_EQ(iterations, kPhases * kIterations);
  CHECK_EQ(tasks, kPhases * threads);
}

/* parallel: the others look for it all the time. */
static void parallel_at_points(int round) {
  int before = 0, after = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp atomic
    before++;
    if (omp_get_thread_num() == chosen(round)) {
#pragma omp cancel parallel
    }
    while (on) {
#pragma omp cancellation point parallel
      sched_yield();
    }
#pragma omp atomic
    after++;
  }
  CHECK_EQ(before, threads);
  CHECK_EQ(after, on ? 0 : threads);
}

/* parallel: the others wait at an explicit barrier, or have passed one and wait at the next. */
static void parallel_at_barriers(int round, int barriers) {
  int passed = 0, after = 0;
#pragma omp parallel num_threads(threads)
  {
    for (int i = 0; i < barriers; i++) {
      if (i == barriers - 1 && omp_get_thread_num() == chosen(round)) {
#pragma omp cancel parallel
      }
#pragma omp barrier
#pragma omp atomic
      passed++;
    }
#pragma omp atomic
    after++;
  }
  if (on) /* a thread may leave a barrier only when the next one is cancelled, and find that out there */
    CHECK_RANGE(passed, 0, threads * (barriers - 1));
  else
    CHECK_EQ(passed, threads * barriers);
  CHECK_EQ(after, on ? 0 : threads);
}

/* parallel: the others wait at the end of a worksharing construct. */
static void parallel_at_implicit_barriers(int round) {
  int after = 0;
  for (int kind = 0; kind < 4; kind++) {
#pragma omp parallel num_threads(threads)
    {
      if (omp_get_thread_num() == chosen(round)) {
#pragma omp cancel parallel
      }
      switch (kind) {
        case 0: {
#pragma omp for schedule(static)
          for (int i = 0; i < threads; i++) {
          }
          break;
        }
        case 1: {
#pragma omp for schedule(dynamic)
          for (int i = 0; i < threads; i++) {
          }
          break;
        }
        case 2: {
#pragma omp sections
          {
#pragma omp section
            {
            }
#pragma omp section
            {
            }
          }
          break;
        }
        case 3: {
#pragma omp single
          {
          }
          break;
        }
      }
#pragma omp atomic
      after++;
    }
  }
  CHECK_EQ(after, on ? 0 : 4 * threads);
}

/* parallel: with a false if clause nothing happens. */
static void parallel_if(void) {
  int after = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp cancel parallel if (after > threads)
#pragma omp barrier
#pragma omp atomic
    after++;
  }
  CHECK_EQ(after, threads);
}

/* parallel: the innermost one, and no other. */
static void nested(void) {
  int inner = 0, after_inner = 0, after_outer = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp parallel num_threads(2)
    {
#pragma omp atomic
      inner++;
      if (omp_get_thread_num() == 0) {
#pragma omp cancel parallel
      }
#pragma omp barrier
#pragma omp atomic
      after_inner++;
    }
#pragma omp barrier
#pragma omp atomic
    after_outer++;
  }
  CHECK_RANGE(inner, threads, 2 * threads);
  CHECK_EQ(after_inner, on ? 0 : inner);
  CHECK_EQ(after_outer, threads);
}

/* for: the loops are orphaned, so that every region may call them. */
#define LOOP(NAME, SCHEDULE)                             \
  static void NAME(int n, int at, char* done) {          \
    _Pragma(SCHEDULE) for (int i = 0; i < n; i++) {      \
      if (i == at) {                                     \
        _Pragma("omp cancel for")                        \
      }                                                  \
      _Pragma("omp cancellation point for") done[i] = 1; \
    }                                                    \
  }

LOOP(loop_static, "omp for schedule(static)")
LOOP(loop_static_1, "omp for schedule(static, 1)")
LOOP(loop_dynamic, "omp for schedule(dynamic)")
LOOP(loop_guided, "omp for schedule(guided, 2)")
LOOP(loop_runtime, "omp for schedule(runtime)")

static void loops(int round) {
  enum { kIterations = 100, kLoops = 5 };
  static void (*const loop[kLoops])(int, int, char*) = {loop_static, loop_static_1, loop_dynamic, loop_guided,
                                                        loop_runtime};
  static char done[kLoops][2][kIterations];
  int at = round % kIterations, reached = 0;
  memset(done, 0, sizeof done);
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < kLoops; i++) {
    loop[i](kIterations, at, done[i][0]);
    loop[i](kIterations, -1, done[i][1]); /* not cancelled: all of it */
#pragma omp atomic
    reached++;
  }
  CHECK_EQ(reached, kLoops * threads);
  for (int i = 0; i < kLoops; i++) {
    CHECK_EQ(done[i][0][at], !on);
    for (int k = 0; k < kIterations; k++) {
      CHECK_EQ(done[i][1][k], 1);
      if (!on) CHECK_EQ(done[i][0][k], 1);
    }
    if (on && i == 0) /* a thread leaves its block; alone, it has the next iteration, too */
      CHECK_EQ(done[i][0][at + (at + 1 < kIterations && threads == 1)], 0);
  }
}

/* for: the others are in an iteration that only ends so; also where the loop ends with the region. */
static void loop_at_points(int round) {
  int after = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(static, 1)
    for (int i = 0; i < threads; i++) {
      if (i == chosen(round)) {
#pragma omp cancel for
      }
      while (on) {
#pragma omp cancellation point for
        sched_yield();
      }
    }
#pragma omp atomic
    after++;
  }
  CHECK_EQ(after, threads);
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int i = 0; i < threads; i++) {
    if (i == chosen(round)) {
#pragma omp cancel for
    }
    while (on) {
#pragma omp cancellation point for
      sched_yield();
    }
  }
}

/* sections: whoever comes first cancels. */
static void sections(void) {
  int entered = 0, done = 0, after = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp sections
    {
#pragma omp section
      {
        int order;
#pragma omp atomic capture
        order = entered++;
        if (order == 0) {
#pragma omp cancel sections
        }
        while (on) {
#pragma omp cancellation point sections
          sched_yield();
        }
#pragma omp atomic
        done++;
      }
#pragma omp section
      {
        int order;
#pragma omp atomic capture
        order = entered++;
        if (order == 0) {
#pragma omp cancel sections
        }
        while (on) {
#pragma omp cancellation point sections
          sched_yield();
        }
#pragma omp atomic
        done++;
      }
    }
#pragma omp atomic
    after++;
  }
  CHECK_RANGE(entered, 1, 2);
  CHECK_EQ(done, on ? 0 : 2);
  CHECK_EQ(after, threads);
}

/* taskgroup: the task construct is orphaned, its taskgroup is the caller's. */
static void cancelling_task(int* chain) {
#pragma omp task depend(inout : chain[0])
  {
#pragma omp cancel taskgroup
    chain[0] = -1;
  }
}

static void taskgroup_chain(void) {
  enum { kTasks = 20 };
  int chain[1] = {0}, ran = 0, outside = 0, behind = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
#pragma omp task shared(outside)
    outside = 1;
#pragma omp taskgroup
    {
      cancelling_task(chain);
      for (int i = 0; i < kTasks; i++) {
#pragma omp task depend(inout : chain[0]) shared(ran)
        {
          ran++;
#pragma omp task shared(ran)
          {
#pragma omp atomic
            ran++;
          }
#pragma omp taskwait
        }
      }
    }
    CHECK_EQ(ran, on ? 0 : 2 * kTasks);
    CHECK_EQ(chain[0], on ? 0 : -1);
#pragma omp taskgroup
    for (int i = 0; i < kTasks; i++) { /* another group, ordered after the discarded tasks of the chain */
#pragma omp task depend(inout : chain[0]) shared(behind)
      behind++;
    }
  }
  CHECK_EQ(outside, 1);
  CHECK_EQ(behind, kTasks);
}

/* taskgroup: a task that runs finds out, and the descendants of tasks that run go with it. */
static void taskgroup_at_points(void) {
  int running = 0, after = 0;
  if (threads < 2) return;
#pragma omp parallel num_threads(threads)
#pragma omp single
#pragma omp taskgroup
  {
#pragma omp task shared(running, after)
    {
#pragma omp atomic write
      running = 1;
      while (on) {
#pragma omp cancellation point taskgroup
        sched_yield();
      }
#pragma omp atomic
      after++;
    }
#pragma omp task shared(running, after)
    {
      for (int seen = 0; !seen && on; sched_yield()) {
#pragma omp atomic read
        seen = running;
      }
#pragma omp cancel taskgroup
#pragma omp atomic
      after++;
    }
  }
  CHECK_EQ(after, on ? 0 : 2);
}

/* taskgroup: that of a taskloop. */
static void taskgroup_of_taskloop(void) {
  enum { kIterations = 50 };
  int done = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
#pragma omp taskloop grainsize(1) shared(done)
  for (int i = 0; i < kIterations; i++) {
#pragma omp cancel taskgroup
#pragma omp atomic
    done++;
  }
  CHECK_EQ(done, on ? 0 : kIterations);
}

/* taskgroup: a reduction over tasks is in one of its own, which `cancel` does not mean. */
static void taskgroup_around_reduction(void) {
  int sum = 0, behind = 0;
#pragma omp parallel num_threads(threads)
#pragma omp taskgroup
  {
#pragma omp for schedule(static, 1) reduction(task, + : sum)
    for (int i = 0; i < threads; i++) {
#pragma omp task in_reduction(+ : sum)
      {
        sum++;
#pragma omp cancel taskgroup
      }
    }
#pragma omp task shared(behind)
    {
#pragma omp atomic
      behind++;
    }
  }
  CHECK_EQ(behind, on ? 0 : threads);
}

/* parallel: its tasks are not started, and their dependences not waited for. */
static void tasks_of_region(void) {
  enum { kTasks = 20 };
  int (*status)(int) = (int (*)(int))dlsym(RTLD_DEFAULT, "kmp_get_cancellation_status");
  int chain = 0, ran = 0;
  if (threads < 2) return;
#pragma omp parallel num_threads(threads)
  {
    if (omp_get_thread_num() == 0) {
#pragma omp task depend(inout : chain)
      while (on && status != NULL && !status(1)) /* 1: of a parallel region */
        sched_yield();
      for (int i = 0; i < kTasks; i++) {
#pragma omp task depend(inout : chain) shared(ran)
        ran++;
      }
#pragma omp cancel parallel
    }
#pragma omp barrier
  }
  if (!on)
    CHECK_EQ(ran, kTasks);
  else if (status != NULL)
    CHECK_EQ(ran, 0);
}

int main(void) {
  on = omp_get_cancellation();
  const char* wanted = getenv("OMP_CANCELLATION");
  CHECK_EQ(on, wanted != NULL && strcmp(wanted, "true") == 0);
  threads = omp_get_max_threads();
  omp_set_dynamic(0);
  for (int round = 0; round < kRounds; round++) {
    parallel_at_barriers(round, 1 + round % 3);
    if (round % 4 == 0) check_team();
    if (round % 10 == 0) loops(round / 10);
    sections();
    taskgroup_chain();
    if (round % 20 == 0) {
      parallel_at_points(round);
      parallel_at_implicit_barriers(round);
      parallel_if();
      nested();
      loop_at_points(round);
      taskgroup_at_points();
      taskgroup_of_taskloop();
      taskgroup_around_reduction();
      tasks_of_region();
      check_team();
    }
  }
  return 0;
}
