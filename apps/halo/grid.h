/* SPDX-License-Identifier: Apache-2.0
 *
 * A rank's strip of the plane, twice: iteration k reads plane k mod 2 and writes the other. Around the strip lies one
 * row and one column on each side: zero at the border of the whole plane, else a neighbour's row. Rows are cut into
 * blocks, numbered from 1; block 0 and block blocks + 1 are the neighbours' rows. A block is named, in depend clauses
 * as elsewhere, by its first number. Made by the main thread; blocks are written by whom the clauses admit.
 */
#ifndef HALO_GRID_H
#define HALO_GRID_H

#include <stdbool.h>
#include <stddef.h>

#include "options.h"

enum { kPlanes = 2 }; /* iterations take turns with them */

typedef struct {
  int rows;
  int columns;
  int blocks;
  int first_row; /* of the whole plane, from 1 */
  int all_rows;
  size_t stride;
  double* planes[kPlanes];
} Grid;

/* False if memory does not suffice. The plane starts as a mode (mode.h). */
bool grid_create(Grid* grid, const Options* options, int ranks, int rank);
void grid_destroy(Grid* grid);

/* The first number of a block in the plane of this iteration. */
double* grid_block(const Grid* grid, int iteration, int block);

/* The first row of a block, counted from 1, of block 1 to blocks + 1. */
int grid_block_row(const Grid* grid, int block);

/* One iteration on one block: each number becomes the mean of its four neighbours. */
void grid_compute(const Grid* grid, int iteration, int block);

/* The row that a neighbour needs, and where its row goes: numbers 1 to columns. */
double* grid_edge(const Grid* grid, int iteration, bool upper);
double* grid_halo(const Grid* grid, int iteration, bool upper);

#endif
