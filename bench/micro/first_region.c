/* SPDX-License-Identifier: Apache-2.0
 *
 * The first region of a process: what a runtime does when it is needed for the first time. This includes starting
 * threads and, if they are to be bound, finding places. Figures: wall time of `first_region` and, to compare with, of
 * `second_region`, once per process: the study starts a process for each sample. No OpenMP routine is called before.
 * What a runtime does while it is loaded is not in it.
 */
#include "bench.h"

#include <omp.h>

enum { kMostThreads = 1024 };

struct Count {
  _Alignas(kBenchLine) int entered;
};

static struct Count counts[kMostThreads];

static double region(int so_far) {
  double start = bench_now();
#pragma omp parallel
  {
    int thread = omp_get_thread_num();
    if (thread < kMostThreads) ++counts[thread].entered;
  }
  double elapsed = bench_now() - start;
  if (omp_get_max_threads() > kMostThreads) bench_fail("at most %d threads", kMostThreads);
  for (int t = 0; t < omp_get_max_threads(); ++t)
    if (counts[t].entered != so_far + 1) bench_fail("thread %d left a region out", t);
  return elapsed;
}

int main(int argc, char** argv) {
  bench_init(argc, argv);
  double first = region(0);
  double second = region(1);
  bench_say("first_region", first, "ns");
  bench_say("second_region", second, "ns");
  return 0;
}
