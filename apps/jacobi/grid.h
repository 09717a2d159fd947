/* SPDX-License-Identifier: Apache-2.0
 *
 * The system, and a rank's strip of its unknowns. A number of the plane has four neighbours, and 0 beyond the border:
 *
 *     (4 + shift) u(row, column) - sum of the neighbours = right(row, column)
 *
 * The strip is stored several times: iteration k reads plane k - 1 and writes plane k, each modulo the number of
 * planes. Around a strip lies a row and a column on each side: zero at the border, else a neighbour's row. Rows are cut
 * into blocks, numbered from 1; blocks 0 and blocks + 1 are the neighbours' rows. A block is named, in depend clauses
 * as elsewhere, by its first number. Made by the main thread; depend clauses say which task may touch a block.
 */
#ifndef JACOBI_GRID_H
#define JACOBI_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options.h"

typedef struct {
  int rows;
  int columns;
  int blocks;
  int planes;
  int first_row; /* of the whole plane, from 0 */
  size_t stride;
  double diagonal;
  double* plane[kMostAhead + 1];
  double* right;
} Grid;

/* False if memory does not suffice. */
bool grid_create(Grid* grid, const Options* options, int ranks, int rank);
void grid_destroy(Grid* grid);

/* A random right-hand side, and zero as iterate 0. What a number is does not depend on the ranks. Returns the largest
 * element of this rank's part, which is its first residual. */
double grid_start(Grid* grid, long long seed);

/* The first number of a block of iterate k. */
double* grid_block(const Grid* grid, int iterate, int block);

/* Makes a block of iterate k out of iterate k - 1. Returns the largest element of the residual of k - 1 there. */
double grid_compute(const Grid* grid, int iterate, int block);

/* The largest element of iterate k's residual, whose neighbours' rows must be there. */
double grid_residual(const Grid* grid, int iterate);

/* A sum over the numbers of iterate k, bit by bit; the strips' sums add up to that of the plane. */
uint64_t grid_hash(const Grid* grid, int iterate);

/* The row that a neighbour needs, and where its row goes: `columns` numbers. */
double* grid_edge(const Grid* grid, int iterate, bool upper);
double* grid_halo(const Grid* grid, int iterate, bool upper);

#endif
