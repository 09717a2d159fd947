/* SPDX-License-Identifier: Apache-2.0
 *
 * Who owns which tile, and who needs it. A symmetric n x n matrix is cut into tiles of tile x tile (the last row and
 * column of tiles may be smaller) and only the tiles on and below the diagonal are kept. Tile (m, k) lives on the
 * process at (m mod grid_rows, k mod grid_cols) of the process grid: ScaLAPACK's 2D block-cyclic distribution. A Layout
 * is filled in once before any thread starts and only read after that; every function here is pure.
 */
#ifndef CHOLESKY_LAYOUT_H
#define CHOLESKY_LAYOUT_H

#include <stdbool.h>

typedef struct {
  int n;         /* order of the matrix */
  int tile;      /* edge of a tile, at most n */
  int tiles;     /* tiles along an edge of the matrix: n / tile, rounded up */
  int grid_rows; /* the process grid, P x Q; ranks are numbered along its rows */
  int grid_cols;
  int my_row; /* this process' place in the grid */
  int my_col;
} Layout;

Layout layout_make(int n, int tile, int grid_rows, int grid_cols, int rank);

/* Edge of tile row (or column) m: `tile`, or what remains for the last one. */
int layout_extent(const Layout* layout, int m);

/* How many x in [0, tiles) satisfy x mod period == residue: tile rows or columns of one process. */
int layout_share(const Layout* layout, int period, int residue);

/* The smallest x >= first with x mod period == residue: the next tile row or column of one process. */
int layout_next(int first, int period, int residue);

int layout_owner(const Layout* layout, int m, int k);
bool layout_owns(const Layout* layout, int m, int k);

/* Whether the process at (row, col) of the grid reads tile (m, k) of L in step k: as an operand of an update in tile
 * row m (columns k+1..m), or in tile column m (rows m..tiles-1). For the diagonal tile, m == k, the second case is the
 * processes that hold the column below it. The owner may be among them. */
bool layout_needs(const Layout* layout, int row, int col, int m, int k);

#endif
