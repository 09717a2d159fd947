/* SPDX-License-Identifier: Apache-2.0
 *
 * A wavefront over a grid of 64 x 64 cells: the task of a cell reads its neighbours W, NW, N and NE and updates itself,
 * i.e. five dependences and up to four predecessors; one thread creates, and waits after each sweep. Figures:
 * `wavefront`, wall time per task; `wavefront_create`, the part of it in which the creator creates. The cells' values are those of the serial sweep if and only if the order was right;
 * a rim of cells that nobody writes stands for the neighbours outside.
 */
#include "bench.h"

enum { kSide = 64 };

typedef unsigned Grid[kSide + 1][kSide + 2];

static Grid grid, expected;
static double created_ns;

static inline void update(unsigned *cell, unsigned w, unsigned nw, unsigned n, unsigned ne) {
  *cell = 3 * *cell + 5 * w + 7 * nw + 11 * n + 13 * ne + 1;
}

static void sweep(void) {
  for (int i = 1; i <= kSide; ++i)
    for (int j = 1; j <= kSide; ++j) {
#pragma omp task firstprivate(i, j) depend(in : grid[i][j - 1], grid[i - 1][j - 1], grid[i - 1][j]) \
    depend(in : grid[i - 1][j + 1]) depend(inout : grid[i][j])
      update(&grid[i][j], grid[i][j - 1], grid[i - 1][j - 1], grid[i - 1][j], grid[i - 1][j + 1]);
    }
}

static void run(long rounds) {
  memset(grid, 0, sizeof grid);
  created_ns = 0;
#pragma omp parallel
#pragma omp single
  for (long r = 0; r < rounds; ++r) {
    double start = bench_now();
    sweep();
    created_ns += bench_now() - start;
#pragma omp taskwait
  }
}

static int check(long rounds) {
  memset(expected, 0, sizeof expected);
  for (long r = 0; r < rounds; ++r)
    for (int i = 1; i <= kSide; ++i)
      for (int j = 1; j <= kSide; ++j)
        update(&expected[i][j], expected[i][j - 1], expected[i - 1][j - 1], expected[i - 1][j], expected[i - 1][j + 1]);
  return !memcmp(grid, expected, sizeof grid);
}

static double create_time(void) { return created_ns; }

int main(int argc, char **argv) {
  static const struct BenchFigure figures[] = {{"wavefront", "ns", kSide * kSide, run, check, NULL},
                                               {"wavefront_create", "ns", kSide * kSide, run, check, create_time}};
  return bench_main(argc, argv, figures, 2);
}
