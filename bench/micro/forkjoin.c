/* SPDX-License-Identifier: Apache-2.0
 *
 * Fork and join: empty parallel regions, one after another. Figure: `region`, wall time per region. Each thread counts
 * in its own line; a region that left a thread out, or ended before one, would show in the sums.
 */
#include "bench.h"

#include <omp.h>

enum { kRegions = 256, kMaxThreads = 1024 };

struct Count {
  _Alignas(kBenchLine) long entered;
};

static struct Count counts[kMaxThreads];

static void run(long rounds) {
  memset(counts, 0, sizeof counts);
  for (long i = 0; i < rounds * kRegions; ++i) {
#pragma omp parallel
    ++counts[omp_get_thread_num()].entered;
  }
}

static int check(long rounds) {
  for (int t = 0; t < omp_get_max_threads(); ++t)
    if (counts[t].entered != rounds * kRegions) return 0;
  return 1;
}

int main(int argc, char** argv) {
  if (omp_get_max_threads() > kMaxThreads) bench_fail("at most %d threads", kMaxThreads);
  static const struct BenchFigure figures[] = {{"region", "ns", kRegions, run, check, NULL}};
  return bench_main(argc, argv, figures, 1);
}
