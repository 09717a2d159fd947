/* SPDX-License-Identifier: Apache-2.0
 *
 * The arithmetic of the 2D block-cyclic distribution; see layout.h. Nothing here has state.
 */
#include "layout.h"

Layout layout_make(int n, int tile, int grid_rows, int grid_cols, int rank) {
  int edge = tile < n ? tile : n;
  return (Layout){
      .n = n,
      .tile = edge,
      .tiles = (n - 1) / edge + 1,
      .grid_rows = grid_rows,
      .grid_cols = grid_cols,
      .my_row = rank / grid_cols,
      .my_col = rank % grid_cols,
  };
}

int layout_extent(const Layout* layout, int m) {
  return m < layout->tiles - 1 ? layout->tile : layout->n - m * layout->tile;
}

int layout_share(const Layout* layout, int period, int residue) {
  return layout->tiles / period + (residue < layout->tiles % period ? 1 : 0);
}

int layout_next(int first, int period, int residue) { return first + (residue - first % period + period) % period; }

int layout_owner(const Layout* layout, int m, int k) {
  return m % layout->grid_rows * layout->grid_cols + k % layout->grid_cols;
}

bool layout_owns(const Layout* layout, int m, int k) {
  return m % layout->grid_rows == layout->my_row && k % layout->grid_cols == layout->my_col;
}

bool layout_needs(const Layout* layout, int row, int col, int m, int k) {
  bool along_row = row == m % layout->grid_rows && layout_next(k + 1, layout->grid_cols, col) <= m;
  bool along_col = col == m % layout->grid_cols && layout_next(m, layout->grid_rows, row) < layout->tiles;
  return along_row || along_col;
}
