/* SPDX-License-Identifier: Apache-2.0
 *
 * The ramp, applied to ranks and then to blocks; see layout.h. Pure functions.
 */
#include "layout.h"

#include <math.h>

/* How many of n bodies lie before part p of `parts`: n times the sum of the shares of the parts before p, which is
 * p / P * (1 - F * (P - p) / (P - 1)). It rises with p for every F in [0, 1], and is exactly 0 and n at the ends. */
static int before(int n, int p, int parts, double imbalance) {
  if (parts == 1) {
    return p == 0 ? 0 : n;
  }
  double tilt = 1 - imbalance * (parts - p) / (parts - 1);
  return (int)floor((double)n * p * tilt / parts);
}

Layout layout_make(int bodies, int block, double imbalance, int ranks, int rank) {
  Layout layout = {.bodies = bodies, .block = block, .imbalance = imbalance, .ranks = ranks, .rank = rank};
  for (int r = 0; r < ranks; ++r) {
    int blocks = layout_blocks(&layout, r);
    layout.most_blocks = blocks > layout.most_blocks ? blocks : layout.most_blocks;
    for (int b = 0; b < blocks; ++b) {
      int count = layout_block_bodies(&layout, r, b);
      layout.largest_block = count > layout.largest_block ? count : layout.largest_block;
    }
  }
  return layout;
}

int layout_first(const Layout* layout, int rank) {
  return before(layout->bodies, rank, layout->ranks, layout->imbalance);
}

int layout_bodies(const Layout* layout, int rank) {
  return layout_first(layout, rank + 1) - layout_first(layout, rank);
}

int layout_blocks(const Layout* layout, int rank) {
  int bodies = layout_bodies(layout, rank);
  return bodies / layout->block + (bodies % layout->block > 0 ? 1 : 0);
}

int layout_block_first(const Layout* layout, int rank, int b) {
  int blocks = layout_blocks(layout, rank);
  return layout_first(layout, rank) + before(layout_bodies(layout, rank), b, blocks, layout->imbalance);
}

int layout_block_bodies(const Layout* layout, int rank, int b) {
  return layout_block_first(layout, rank, b + 1) - layout_block_first(layout, rank, b);
}
