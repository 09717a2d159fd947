/* SPDX-License-Identifier: Apache-2.0
 *
 * Barriers, one after another in one region. Figure: `barrier`, wall time per barrier. The timed loop holds nothing
 * else; the check runs another series in which each thread writes its phase before a barrier and reads all threads'
 * phases after it (a second barrier keeps the next write away from the readers).
 */
#include "bench.h"

#include <omp.h>

enum { kBarriers = 256, kChecked = 100, kMaxThreads = 1024 };

struct Phase {
  _Alignas(kBenchLine) volatile long value;
};

static struct Phase phases[kMaxThreads];

static void run(long rounds) {
#pragma omp parallel
  for (long i = 0; i < rounds * kBarriers; ++i) {
#pragma omp barrier
  }
}

static int check(long rounds) {
  (void)rounds;
  long early = 0;
#pragma omp parallel reduction(+ : early)
  for (long phase = 1; phase <= kChecked; ++phase) {
    phases[omp_get_thread_num()].value = phase;
#pragma omp barrier
    for (int t = 0; t < omp_get_num_threads(); ++t) early += phases[t].value != phase;
#pragma omp barrier
  }
  return early == 0;
}

int main(int argc, char** argv) {
  if (omp_get_max_threads() > kMaxThreads) bench_fail("at most %d threads", kMaxThreads);
  static const struct BenchFigure figures[] = {{"barrier", "ns", kBarriers, run, check, NULL}};
  return bench_main(argc, argv, figures, 1);
}
