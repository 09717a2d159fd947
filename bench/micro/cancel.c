/* SPDX-License-Identifier: Apache-2.0
 *
 * What cancelling later tasks costs. Marline only: `marline.h` is found at run time.
 *
 *   group_run        a taskgroup with one task that does nothing
 *   group_cancelled  the same with a task that calls marline_taskgroup_cancel_later: the difference is the call
 *   query            marline_taskgroup_cancelled, as a producer asks it per iteration
 *   task_run         10,000 empty tasks in a taskgroup, per task
 *   task_skipped     the same, created after the cancellation
 *
 * The invariant: exactly the tasks that are not cancelled run.
 */
#include "bench.h"

enum { kGroups = 1000, kTasks = 10000 };

__attribute__((weak)) void marline_taskgroup_cancel_later(void);
__attribute__((weak)) int marline_taskgroup_cancelled(void);

static long ran;

static void groups(long rounds, int cancel) {
  ran = 0;
#pragma omp parallel
#pragma omp single
  for (long i = 0; i < rounds * kGroups; ++i) {
#pragma omp taskgroup
    {
#pragma omp task
      {
#pragma omp atomic
        ++ran;
        if (cancel) marline_taskgroup_cancel_later();
      }
    }
  }
}

static void tasks(long rounds, int cancel) {
  ran = 0;
#pragma omp parallel
#pragma omp single
  for (long round = 0; round < rounds; ++round) {
#pragma omp taskgroup
    {
      if (cancel) marline_taskgroup_cancel_later();
      for (long i = 0; i < kTasks; ++i) {
#pragma omp task
        {
#pragma omp atomic
          ++ran;
        }
      }
    }
  }
}

static void query(long rounds) {
  ran = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
  for (long i = 0; i < rounds * kTasks; ++i) ran += marline_taskgroup_cancelled();
}

static void group_run(long rounds) { groups(rounds, 0); }
static void group_cancelled(long rounds) { groups(rounds, 1); }
static void task_run(long rounds) { tasks(rounds, 0); }
static void task_skipped(long rounds) { tasks(rounds, 1); }

static int check_groups(long rounds) { return ran == rounds * kGroups; }
static int check_tasks(long rounds) { return ran == rounds * kTasks; }
static int check_none(long rounds) { return rounds > 0 && ran == 0; }

int main(int argc, char** argv) {
  if (!marline_taskgroup_cancel_later || !marline_taskgroup_cancelled) bench_fail("this one needs Marline");
  const struct BenchFigure figures[] = {
      {"group_run", "ns", kGroups, group_run, check_groups, NULL},
      {"group_cancelled", "ns", kGroups, group_cancelled, check_groups, NULL},
      {"query", "ns", kTasks, query, check_none, NULL},
      {"task_run", "ns", kTasks, task_run, check_tasks, NULL},
      {"task_skipped", "ns", kTasks, task_skipped, check_none, NULL},
  };
  return bench_main(argc, argv, figures, sizeof figures / sizeof figures[0]);
}
