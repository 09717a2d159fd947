/* SPDX-License-Identifier: Apache-2.0
 *
 * A wavefront over a grid of 64 x 64 cells: the task of a cell reads its neighbours W, NW, N and NE and updates itself,
 * i.e. five dependences and up to four predecessors. The cells' values are those of the serial sweeps if and only if
 * the order was right; a rim of cells that are never written stands for the neighbours outside. One thread creates.
 */
#ifndef MICRO_GRID_H
#define MICRO_GRID_H

#include <string.h>

enum { kSide = 64 };

typedef unsigned Grid[kSide + 1][kSide + 2];

static Grid grid, expected;

static inline void update(unsigned* cell, unsigned w, unsigned nw, unsigned n, unsigned ne) {
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

/* Whether the grid, which was all zero, has the values after so many sweeps. */
static int grid_is_swept(long sweeps) {
  memset(expected, 0, sizeof expected);
  for (long r = 0; r < sweeps; ++r)
    for (int i = 1; i <= kSide; ++i)
      for (int j = 1; j <= kSide; ++j)
        update(&expected[i][j], expected[i][j - 1], expected[i - 1][j - 1], expected[i - 1][j], expected[i - 1][j + 1]);
  return !memcmp(grid, expected, sizeof grid);
}

#endif
