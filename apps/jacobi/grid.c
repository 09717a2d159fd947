/* SPDX-License-Identifier: Apache-2.0
 *
 * Storage and arithmetic; see grid.h. The largest element does not depend on the order, so neither do ranks and blocks
 * change it, nor the iteration at which it is small enough.
 */
#include "grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { kCacheLine = 64, kNumbersPerLine = kCacheLine / sizeof(double) };

static double* row_of(const Grid* grid, int iterate, int row) {
  return grid->plane[iterate % grid->planes] + (size_t)row * grid->stride;
}

static double* right_of(const Grid* grid, int row) { return grid->right + (size_t)row * grid->stride; }

/* SplitMix64 (G. Steele et al., OOPSLA 2014): neighbouring numbers become independent ones. */
static uint64_t mixed(uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static uint64_t number_of(const Grid* grid, int row, int column) {
  return (uint64_t)(grid->first_row + row - 1) * (uint64_t)grid->columns + (uint64_t)(column - 1);
}

static double* allocate(size_t bytes) {
  double* numbers = aligned_alloc(kCacheLine, bytes);
  if (numbers) {
    memset(numbers, 0, bytes);
  }
  return numbers;
}

static size_t bytes_of(const Grid* grid) { return ((size_t)grid->rows + 2) * grid->stride * sizeof(double); }

bool grid_create(Grid* grid, const Options* options, int ranks, int rank) {
  const long long first = (long long)options->rows * rank / ranks;
  const long long last = (long long)options->rows * (rank + 1) / ranks;
  *grid = (Grid){.rows = (int)(last - first),
                 .columns = options->columns,
                 .blocks = options->blocks,
                 .planes = options_planes(options),
                 .first_row = (int)first,
                 .diagonal = 4 + options->shift};
  grid->stride = ((size_t)grid->columns + 2 + kNumbersPerLine - 1) / kNumbersPerLine * kNumbersPerLine;
  grid->right = allocate(bytes_of(grid));
  bool all = grid->right;
  for (int plane = 0; plane < grid->planes; ++plane) {
    grid->plane[plane] = allocate(bytes_of(grid));
    all = all && grid->plane[plane];
  }
  return all;
}

void grid_destroy(Grid* grid) {
  for (int plane = 0; plane < grid->planes; ++plane) {
    free(grid->plane[plane]);
  }
  free(grid->right);
}

double grid_start(Grid* grid, long long seed) {
  const uint64_t series = mixed((uint64_t)seed);
  double largest = 0;
  memset(grid->plane[0], 0, bytes_of(grid));
  for (int row = 1; row <= grid->rows; ++row) {
    for (int column = 1; column <= grid->columns; ++column) {
      const double fraction = (double)(mixed(series ^ number_of(grid, row, column)) >> 11) * 0x1p-53;
      right_of(grid, row)[column] = 2 * fraction - 1;
      largest = fmax(largest, fabs(2 * fraction - 1));
    }
  }
  return largest;
}

static int block_row(const Grid* grid, int block) {
  return (int)((long long)grid->rows * (block - 1) / grid->blocks) + 1;
}

double* grid_block(const Grid* grid, int iterate, int block) {
  return row_of(grid, iterate, block == 0 ? 0 : block_row(grid, block));
}

/* The largest difference between two rows: of some columns each, so that a compiler computes these at once. */
static double largest_change(const double* a, const double* b, int count) {
  enum { kLanes = 8 };
  double lanes[kLanes] = {0};
  int i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const double change = fabs(a[i + lane] - b[i + lane]);
      lanes[lane] = change > lanes[lane] ? change : lanes[lane];
    }
  }
  for (; i < count; ++i) {
    lanes[0] = fmax(lanes[0], fabs(a[i] - b[i]));
  }
  double largest = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    largest = fmax(largest, lanes[lane]);
  }
  return largest;
}

double grid_compute(const Grid* grid, int iterate, int block) {
  const int last = block_row(grid, block + 1);
  const double inverse = 1 / grid->diagonal;
  double largest = 0;
  for (int row = block_row(grid, block); row < last; ++row) {
    const double* above = row_of(grid, iterate - 1, row - 1);
    const double* here = row_of(grid, iterate - 1, row);
    const double* below = row_of(grid, iterate - 1, row + 1);
    const double* right = right_of(grid, row);
    double* restrict to = row_of(grid, iterate, row);
    for (int column = 1; column <= grid->columns; ++column) {
      const double neighbours = above[column] + below[column] + (here[column - 1] + here[column + 1]);
      to[column] = (right[column] + neighbours) * inverse;
    }
    largest = fmax(largest, largest_change(to + 1, here + 1, grid->columns));
  }
  return grid->diagonal * largest;
}

double grid_residual(const Grid* grid, int iterate) {
  double largest = 0;
  for (int row = 1; row <= grid->rows; ++row) {
    const double* here = row_of(grid, iterate, row);
    for (int column = 1; column <= grid->columns; ++column) {
      const double neighbours = row_of(grid, iterate, row - 1)[column] + row_of(grid, iterate, row + 1)[column] +
                                here[column - 1] + here[column + 1];
      const double residual = fabs(right_of(grid, row)[column] + neighbours - grid->diagonal * here[column]);
      largest = residual <= largest ? largest : isnan(residual) ? INFINITY : residual;
    }
  }
  return largest;
}

uint64_t grid_hash(const Grid* grid, int iterate) {
  uint64_t sum = 0;
  for (int row = 1; row <= grid->rows; ++row) {
    for (int column = 1; column <= grid->columns; ++column) {
      uint64_t bits;
      memcpy(&bits, row_of(grid, iterate, row) + column, sizeof bits);
      sum += mixed(bits ^ mixed(number_of(grid, row, column)));
    }
  }
  return sum;
}

double* grid_edge(const Grid* grid, int iterate, bool upper) {
  return row_of(grid, iterate, upper ? 1 : grid->rows) + 1;
}

double* grid_halo(const Grid* grid, int iterate, bool upper) {
  return row_of(grid, iterate, upper ? 0 : grid->rows + 1) + 1;
}
