/* SPDX-License-Identifier: Apache-2.0
 *
 * Entries off the diagonal lie in [-1, 1), entries on it in [n, n + 1): strictly diagonally dominant with a positive
 * diagonal, hence positive definite (Gershgorin). No state: see entry().
 */
#include "generate.h"

#include <stdint.h>

/* The output function of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014). */
static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* Entry (i, j), i >= j. */
static double entry(uint64_t seed, int n, int i, int j) {
  uint64_t place = (uint64_t)i << 32 | (uint64_t)j;
  double unit = (double)(mix(mix(seed) ^ place) >> 11) * 0x1p-53;
  return i == j ? n + unit : 2 * unit - 1;
}

static void fill(Tile tile, uint64_t seed, int n, int first_row, int first_col) {
  *tile_status(tile) = 0;
  for (int c = 0; c < tile.cols; ++c) {
    for (int r = 0; r < tile.rows; ++r) {
      int i = first_row + r;
      int j = first_col + c;
      tile.data[(size_t)c * (size_t)tile.rows + r] = i >= j ? entry(seed, n, i, j) : entry(seed, n, j, i);
    }
  }
}

__attribute__((noinline)) static void task_fill(Tile tile, uint64_t seed, int n, int first_row, int first_col) {
#pragma omp task untied default(none) firstprivate(tile, seed, n, first_row, first_col) depend(out : tile.data[0])
  fill(tile, seed, n, first_row, first_col);
}

void generate_matrix(Matrix* matrix, long long seed) {
  const Layout* layout = &matrix->layout;
#pragma omp parallel default(none) shared(matrix, layout, seed)
#pragma omp single
  for (int k = layout_next(0, layout->grid_cols, layout->my_col); k < layout->tiles; k += layout->grid_cols) {
    for (int m = layout_next(k, layout->grid_rows, layout->my_row); m < layout->tiles; m += layout->grid_rows) {
      task_fill(matrix_tile(matrix, m, k), (uint64_t)seed, layout->n, m * layout->tile, k * layout->tile);
    }
  }
}
