/* SPDX-License-Identifier: Apache-2.0
 *
 * The price of a chunk: a loop with schedule(dynamic, 1) and an almost empty body, 10,000 iterations per loop. Figure:
 * `dynamic_for`, wall time per chunk. The sum of the indices shows that each iteration ran once.
 */
#include "bench.h"

enum { kIterations = 10000 };

static long index_sum;

static void run(long rounds) {
  index_sum = 0;
#pragma omp parallel reduction(+ : index_sum)
  for (long r = 0; r < rounds; ++r) {
#pragma omp for schedule(dynamic, 1)
    for (long i = 0; i < kIterations; ++i) index_sum += i;
  }
}

static int check(long rounds) { return index_sum == rounds * kIterations * (kIterations - 1L) / 2; }

int main(int argc, char** argv) {
  static const struct BenchFigure figures[] = {{"dynamic_for", "ns", kIterations, run, check, NULL}};
  return bench_main(argc, argv, figures, 1);
}
