/* SPDX-License-Identifier: Apache-2.0
 *
 * What recording a trace costs a program with short tasks: tasks that last 1 us or 10 us by the clock, created by one
 * thread (`one_*`) or by every thread (`all_*`). Figure: wall time per task and thread, which without any overhead is
 * the length of the task; a run with the recorder loaded is compared with one without. The team's threads share nothing
 * but the counters that prove that every task ran, one per thread.
 */
#include "bench.h"

#include <omp.h>

enum { kTasks = 512, kMostThreads = 256 };

struct Counter {
  _Alignas(kBenchLine) long value;
};

static struct Counter ran[kMostThreads];
static double task_ns;

/* By the clock: the length of a task is then the same in every run, and only what surrounds tasks differs. */
static void spin(void) {
  const double end = bench_now() + task_ns;
  while (bench_now() < end) {
  }
  ++ran[omp_get_thread_num()].value;
}

static void create(long tasks) {
  for (long i = 0; i < tasks; ++i) {
#pragma omp task
    spin();
  }
#pragma omp taskwait
}

static void one_creator(long rounds) {
  memset(ran, 0, sizeof ran);
#pragma omp parallel
#pragma omp single
  for (long i = 0; i < rounds; ++i) create((long)kTasks * omp_get_num_threads());
}

static void all_create(long rounds) {
  memset(ran, 0, sizeof ran);
#pragma omp parallel
  for (long i = 0; i < rounds; ++i) create(kTasks);
}

static int check(long rounds) {
  long sum = 0;
  for (int i = 0; i < kMostThreads; ++i) sum += ran[i].value;
  return sum == rounds * kTasks * omp_get_max_threads();
}

int main(int argc, char** argv) {
  static const struct {
    struct BenchFigure figure;
    double task_ns;
  } figures[] = {
      {{"one_1us", "ns", kTasks, one_creator, check, NULL}, 1e3},
      {{"one_10us", "ns", kTasks, one_creator, check, NULL}, 1e4},
      {{"all_1us", "ns", kTasks, all_create, check, NULL}, 1e3},
      {{"all_10us", "ns", kTasks, all_create, check, NULL}, 1e4},
  };
  bench_init(argc, argv);
  if (omp_get_max_threads() > kMostThreads) bench_fail("more than %d threads", kMostThreads);
  int done = 0;
  for (unsigned i = 0; i < sizeof figures / sizeof figures[0]; ++i) {
    task_ns = figures[i].task_ns;
    done += bench_figure(&figures[i].figure);
  }
  if (!done) bench_fail("no figure is called %s", bench_options.only);
  return 0;
}
