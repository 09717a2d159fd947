/* SPDX-License-Identifier: Apache-2.0
 *
 * Storage of the local tiles: one slab and a table of pointers into it; see matrix.h for who may touch what.
 */
#include "matrix.h"

#include <stdint.h>
#include <stdlib.h>

enum { kCacheLine = 64, kLineDoubles = kCacheLine / sizeof(double) };

size_t tile_stride(const Layout* layout) {
  size_t used = (size_t)layout->tile * (size_t)layout->tile + 1;
  return (used + kLineDoubles - 1) / kLineDoubles * kLineDoubles;
}

double* tile_slab_allocate(const Layout* layout, size_t tiles) {
  size_t tile_bytes = tile_stride(layout) * sizeof(double);
  if (tiles > PTRDIFF_MAX / tile_bytes) {
    return NULL;
  }
  return aligned_alloc(kCacheLine, tiles * tile_bytes);
}

double* tile_status(Tile tile) { return tile.data + (size_t)tile.rows * (size_t)tile.cols; }

int tile_message_count(Tile tile) { return tile.rows * tile.cols + 1; }

/* The first local row that has its tile of local column c on or below the diagonal. */
static int first_local_row(const Layout* layout, int c) {
  int k = c * layout->grid_cols + layout->my_col;
  int above = k - layout->my_row;
  return above <= 0 ? 0 : (above - 1) / layout->grid_rows + 1;
}

static size_t count_local_tiles(const Matrix* matrix) {
  size_t count = 0;
  for (int c = 0; c < matrix->local_cols; ++c) {
    int first = first_local_row(&matrix->layout, c);
    count += first < matrix->local_rows ? (size_t)(matrix->local_rows - first) : 0;
  }
  return count;
}

bool matrix_create(Matrix* matrix, const Layout* layout) {
  *matrix = (Matrix){.layout = *layout,
                     .local_rows = layout_share(layout, layout->grid_rows, layout->my_row),
                     .local_cols = layout_share(layout, layout->grid_cols, layout->my_col)};
  matrix->count = count_local_tiles(matrix);
  if (matrix->count == 0) {
    return true;
  }
  matrix->tiles = calloc((size_t)matrix->local_rows * (size_t)matrix->local_cols, sizeof *matrix->tiles);
  matrix->slab = tile_slab_allocate(layout, matrix->count);
  if (!matrix->tiles || !matrix->slab) {
    matrix_destroy(matrix);
    return false;
  }
  double* next = matrix->slab;
  for (int c = 0; c < matrix->local_cols; ++c) {
    for (int r = first_local_row(layout, c); r < matrix->local_rows; ++r) {
      matrix->tiles[(size_t)r * (size_t)matrix->local_cols + (size_t)c] = next;
      next += tile_stride(layout);
    }
  }
  return true;
}

void matrix_destroy(Matrix* matrix) {
  free(matrix->slab);
  free(matrix->tiles);
  matrix->slab = NULL;
  matrix->tiles = NULL;
}

Tile matrix_tile(const Matrix* matrix, int m, int k) {
  const Layout* layout = &matrix->layout;
  size_t row = (size_t)(m / layout->grid_rows);
  size_t col = (size_t)(k / layout->grid_cols);
  return (Tile){matrix->tiles[row * (size_t)matrix->local_cols + col], layout_extent(layout, m),
                layout_extent(layout, k)};
}

double* matrix_entry(const Matrix* matrix, int i, int j) {
  int edge = matrix->layout.tile;
  if (!layout_owns(&matrix->layout, i / edge, j / edge)) {
    return NULL;
  }
  Tile tile = matrix_tile(matrix, i / edge, j / edge);
  return tile.data + (size_t)(j % edge) * (size_t)tile.rows + i % edge;
}
