/* SPDX-License-Identifier: Apache-2.0
 *
 * Doacross loops. Figures, wall time of the team per iteration: `doacross_line`, where each iteration waits for the one
 * before (`ordered(1)`, chunks of one: every iteration hands over to another thread), and `doacross_grid`, 32 x 32
 * iterations that wait for their upper and left neighbours, some 50 ns of work in each. The last value shows that all
 * ran in order.
 */
#include "bench.h"

enum { kLine = 32, kEdge = 32, kSteps = 16 };

static unsigned long line[kLine + 1], grid[kEdge + 1][kEdge + 1];

static unsigned long mix(unsigned long a, unsigned long b) {
  unsigned long x = a * 31 + b;
  for (int k = 0; k < kSteps; ++k) x = x * 5 + 1;
  return x;
}

static void doacross_line(long rounds) {
  line[0] = 1;
#pragma omp parallel
  for (long r = 0; r < rounds; ++r) {
#pragma omp for ordered(1) schedule(static, 1)
    for (long i = 1; i <= kLine; ++i) {
#pragma omp ordered depend(sink : i - 1)
      line[i] = line[i - 1] * 5 + 1;
#pragma omp ordered depend(source)
    }
  }
}

static int check_line(long rounds) {
  (void)rounds;
  unsigned long last = 1;
  for (long i = 1; i <= kLine; ++i) last = last * 5 + 1;
  return line[kLine] == last;
}

static void doacross_grid(long rounds) {
#pragma omp parallel
  for (long r = 0; r < rounds; ++r) {
#pragma omp for ordered(2) schedule(static, 1)
    for (long i = 1; i <= kEdge; ++i)
      for (long j = 1; j <= kEdge; ++j) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
        grid[i][j] = mix(grid[i - 1][j], grid[i][j - 1]);
#pragma omp ordered depend(source)
      }
  }
}

static int check_grid(long rounds) {
  (void)rounds;
  static unsigned long expected[kEdge + 1][kEdge + 1];
  for (long i = 1; i <= kEdge; ++i)
    for (long j = 1; j <= kEdge; ++j) expected[i][j] = mix(expected[i - 1][j], expected[i][j - 1]);
  return grid[kEdge][kEdge] == expected[kEdge][kEdge];
}

int main(int argc, char** argv) {
  static const struct BenchFigure figures[] = {
      {"doacross_line", "ns", kLine, doacross_line, check_line, NULL},
      {"doacross_grid", "ns", kEdge * kEdge, doacross_grid, check_grid, NULL},
  };
  return bench_main(argc, argv, figures, 2);
}
