/* SPDX-License-Identifier: Apache-2.0
 *
 * Worksharing constructs, one after another in one region, each with its implicit barrier. Figures, wall time of the
 * team per construct: `static_for` and `guided_for` (a loop of 64 almost empty iterations), `guided_triangle` (64
 * iterations, each shorter than the previous one, 19 us together: how well guided chunks share such work),
 * `for_reduction` (a loop of one iteration per thread that sums into a variable), `single`. Sums show that each
 * iteration and each single ran once.
 */
#include "bench.h"

#include <omp.h>

enum { kConstructs = 256, kIterations = 64, kTriangles = 8, kSteps = 16 };

static long sum, expected;

static void static_for(long rounds) {
  sum = 0;
  expected = rounds * kConstructs * (kIterations * (kIterations - 1L) / 2);
#pragma omp parallel reduction(+ : sum)
  for (long c = 0; c < rounds * kConstructs; ++c) {
#pragma omp for schedule(static, 4)
    for (long i = 0; i < kIterations; ++i) sum += i;
  }
}

static void guided_for(long rounds) {
  sum = 0;
  expected = rounds * kConstructs * (kIterations * (kIterations - 1L) / 2);
#pragma omp parallel reduction(+ : sum)
  for (long c = 0; c < rounds * kConstructs; ++c) {
#pragma omp for schedule(guided)
    for (long i = 0; i < kIterations; ++i) sum += i;
  }
}

/* The work of iteration i of the triangle: arithmetic that no compiler vectorises or leaves out. */
static long row(long i) {
  unsigned long x = (unsigned long)i;
  for (long j = (kIterations - i) * kSteps; j > 0; --j) x = x * 5 + 1;
  return (long)(x >> 32);
}

static void guided_triangle(long rounds) {
  sum = expected = 0;
  for (long i = 0; i < kIterations; ++i) expected += row(i);
  expected *= rounds * kTriangles;
#pragma omp parallel reduction(+ : sum)
  for (long c = 0; c < rounds * kTriangles; ++c) {
#pragma omp for schedule(guided)
    for (long i = 0; i < kIterations; ++i) sum += row(i);
  }
}

static void for_reduction(long rounds) {
  sum = 0;
  long threads = omp_get_max_threads();
  expected = rounds * kConstructs * threads;
#pragma omp parallel
  for (long c = 0; c < rounds * kConstructs; ++c) {
#pragma omp for reduction(+ : sum)
    for (long i = 0; i < threads; ++i) sum += 1;
  }
}

static void single(long rounds) {
  sum = 0;
  expected = rounds * kConstructs;
#pragma omp parallel
  for (long c = 0; c < rounds * kConstructs; ++c) {
#pragma omp single
    sum += 1;
  }
}

static int check(long rounds) {
  (void)rounds;
  return sum == expected;
}

int main(int argc, char** argv) {
  static const struct BenchFigure figures[] = {
      {"static_for", "ns", kConstructs, static_for, check, NULL},
      {"guided_for", "ns", kConstructs, guided_for, check, NULL},
      {"guided_triangle", "ns", kTriangles, guided_triangle, check, NULL},
      {"for_reduction", "ns", kConstructs, for_reduction, check, NULL},
      {"single", "ns", kConstructs, single, check, NULL},
  };
  return bench_main(argc, argv, figures, 5);
}
