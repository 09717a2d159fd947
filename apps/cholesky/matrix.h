/* SPDX-License-Identifier: Apache-2.0
 *
 * The tiles of one matrix that this process holds. Each tile is contiguous and column-major, followed by one number,
 * its status: 0, or the order of the leading minor that was found not to be positive. The status travels with the
 * data through kernels and messages, so that a matrix that is not positive definite is discovered by dataflow alone:
 * no task is cancelled, no message is missing, and every process ends.
 *
 * A Matrix is created and destroyed by the main thread. Its tiles are read and written by tasks, which name the
 * tile's first element in their `depend` clauses; nothing else orders them.
 */
#ifndef CHOLESKY_MATRIX_H
#define CHOLESKY_MATRIX_H

#include <stdbool.h>
#include <stddef.h>

#include "layout.h"

typedef struct {
  double* data;
  int rows;
  int cols;
} Tile;

typedef struct {
  Layout layout;
  int local_rows; /* tile rows and columns of this process */
  int local_cols;
  size_t count;   /* tiles of this process */
  double* slab;   /* all tiles, one after the other; NULL if this process holds none */
  double** tiles; /* local_rows x local_cols, NULL above the diagonal */
} Matrix;

/* Doubles that one tile takes in a slab: data, status, and padding to a cache line. */
size_t tile_stride(const Layout* layout);

/* `tiles` times the room for one tile, aligned to a cache line; NULL if that cannot be had. The caller frees it. */
double* tile_slab_allocate(const Layout* layout, size_t tiles);

#pragma omp declare target
double* tile_status(Tile tile);
#pragma omp end declare target

/* What a message carries: the data and the status. */
int tile_message_count(Tile tile);

/* False, with nothing allocated, if memory does not suffice. The tiles are not initialised: the first task that writes
 * one decides on which memory node it lies. */
bool matrix_create(Matrix* matrix, const Layout* layout);
void matrix_destroy(Matrix* matrix);

/* Tile (m, k), m >= k, which this process must own. */
Tile matrix_tile(const Matrix* matrix, int m, int k);

/* Entry (i, j), i >= j, or NULL if another process owns it. */
double* matrix_entry(const Matrix* matrix, int i, int j);

#endif
