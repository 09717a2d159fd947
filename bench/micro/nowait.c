/* SPDX-License-Identifier: Apache-2.0
 *
 * Worksharing constructs with `nowait`, one after another in one region: threads meet only at the region's end.
 * Figures, wall time of the team per construct: `dynamic_nowait`, `dynamic_8_nowait`, `guided_nowait` (a loop of 64
 * almost empty iterations with this schedule) and `single_nowait`. Sums show that each iteration and each single ran
 * once.
 */
#include "bench.h"

enum { kConstructs = 256, kIterations = 64 };

static long sum, expected;

static void expect(long rounds, long of_construct) {
  sum = 0;
  expected = rounds * kConstructs * of_construct;
}

static void dynamic_nowait(long rounds) {
  expect(rounds, kIterations * (kIterations - 1L) / 2);
#pragma omp parallel reduction(+ : sum)
  for (long c = 0; c < rounds * kConstructs; ++c) {
#pragma omp for schedule(dynamic) nowait
    for (long i = 0; i < kIterations; ++i) sum += i;
  }
}

static void dynamic_8_nowait(long rounds) {
  expect(rounds, kIterations * (kIterations - 1L) / 2);
#pragma omp parallel reduction(+ : sum)
  for (long c = 0; c < rounds * kConstructs; ++c) {
#pragma omp for schedule(dynamic, 8) nowait
    for (long i = 0; i < kIterations; ++i) sum += i;
  }
}

static void guided_nowait(long rounds) {
  expect(rounds, kIterations * (kIterations - 1L) / 2);
#pragma omp parallel reduction(+ : sum)
  for (long c = 0; c < rounds * kConstructs; ++c) {
#pragma omp for schedule(guided) nowait
    for (long i = 0; i < kIterations; ++i) sum += i;
  }
}

static void single_nowait(long rounds) {
  expect(rounds, 1);
#pragma omp parallel reduction(+ : sum)
  for (long c = 0; c < rounds * kConstructs; ++c) {
#pragma omp single nowait
    sum += 1;
  }
}

static int check(long rounds) {
  (void)rounds;
  return sum == expected;
}

int main(int argc, char** argv) {
  static const struct BenchFigure figures[] = {
      {"dynamic_nowait", "ns", kConstructs, dynamic_nowait, check, NULL},
      {"dynamic_8_nowait", "ns", kConstructs, dynamic_8_nowait, check, NULL},
      {"guided_nowait", "ns", kConstructs, guided_nowait, check, NULL},
      {"single_nowait", "ns", kConstructs, single_nowait, check, NULL},
  };
  return bench_main(argc, argv, figures, 4);
}
