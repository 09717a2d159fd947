/* SPDX-License-Identifier: Apache-2.0
 *
 * Storage and arithmetic; see grid.h.
 */
#include "grid.h"

#include <stdlib.h>

#include "mode.h"

enum { kCacheLine = 64, kNumbersPerLine = kCacheLine / sizeof(double) };

static double* row_of(const Grid* grid, int iteration, int row) {
  return grid->planes[iteration % kPlanes] + (size_t)row * grid->stride;
}

static double start_of(const Grid* grid, int row, int column) {
  return mode_value(grid->all_rows, grid->columns, grid->first_row + row - 1, column);
}

bool grid_create(Grid* grid, const Options* options, int ranks, int rank) {
  *grid = (Grid){.rows = options->rows,
                 .columns = options->columns,
                 .blocks = options->blocks,
                 .first_row = rank * options->rows + 1,
                 .all_rows = ranks * options->rows};
  grid->stride = ((size_t)grid->columns + 2 + kNumbersPerLine - 1) / kNumbersPerLine * kNumbersPerLine;
  const size_t bytes = ((size_t)grid->rows + 2) * grid->stride * sizeof(double);
  for (int plane = 0; plane < 2; ++plane) {
    grid->planes[plane] = aligned_alloc(kCacheLine, bytes);
    if (!grid->planes[plane]) {
      return false;
    }
  }
  for (int plane = 0; plane < 2; ++plane) {
    for (int row = 0; row < grid->rows + 2; ++row) {
      double* numbers = row_of(grid, plane, row);
      for (size_t column = 0; column < grid->stride; ++column) {
        const bool inside = row > 0 && row <= grid->rows && column > 0 && column <= (size_t)grid->columns;
        numbers[column] = inside && plane == 0 ? start_of(grid, row, (int)column) : 0;
      }
    }
  }
  return true;
}

void grid_destroy(Grid* grid) {
  free(grid->planes[0]);
  free(grid->planes[1]);
}

int grid_block_row(const Grid* grid, int block) {
  return (int)((long long)grid->rows * (block - 1) / grid->blocks) + 1;
}

double* grid_block(const Grid* grid, int iteration, int block) {
  return row_of(grid, iteration, block == 0 ? 0 : grid_block_row(grid, block));
}

void grid_compute(const Grid* grid, int iteration, int block) {
  const int last = grid_block_row(grid, block + 1);
  for (int row = grid_block_row(grid, block); row < last; ++row) {
    const double* above = row_of(grid, iteration, row - 1);
    const double* here = row_of(grid, iteration, row);
    const double* below = row_of(grid, iteration, row + 1);
    double* restrict to = row_of(grid, iteration + 1, row);
    for (int column = 1; column <= grid->columns; ++column) {
      to[column] = 0.25 * (above[column] + below[column] + here[column - 1] + here[column + 1]);
    }
  }
}

double* grid_edge(const Grid* grid, int iteration, bool upper) {
  return row_of(grid, iteration, upper ? 1 : grid->rows) + 1;
}

double* grid_halo(const Grid* grid, int iteration, bool upper) {
  return row_of(grid, iteration, upper ? 0 : grid->rows + 1) + 1;
}
