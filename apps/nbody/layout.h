/* SPDX-License-Identifier: Apache-2.0
 *
 * Which rank owns which bodies, in which blocks. Bodies are numbered 0..bodies-1 whatever the ranks; a rank owns a
 * contiguous range, and cuts it into blocks. Both cuts follow one law, the ramp: of P parts, part p gets the share
 *
 *     (1 + F * (2p / (P - 1) - 1)) / P        from (1 - F) / P for the first to (1 + F) / P for the last
 *
 * where F is the imbalance, 0 (even) to 1 (the first part is empty). So later ranks have more to do, and the blocks of
 * a rank are of different sizes. A Layout is made once, before any thread starts, and only read after that; every
 * function here is pure, and every process can ask about every rank.
 */
#ifndef NBODY_LAYOUT_H
#define NBODY_LAYOUT_H

typedef struct {
  int bodies;
  int block;        /* bodies of a block on average, at most */
  double imbalance; /* F */
  int ranks;
  int rank;          /* this process */
  int most_blocks;   /* of any rank */
  int largest_block; /* bodies in the largest block of any rank */
} Layout;

Layout layout_make(int bodies, int block, double imbalance, int ranks, int rank);

/* The first body of a rank, 0 <= rank <= ranks: rank r owns the bodies from first(r) to first(r + 1) - 1. */
int layout_first(const Layout* layout, int rank);

/* Bodies and blocks of a rank; either may be 0. */
int layout_bodies(const Layout* layout, int rank);
int layout_blocks(const Layout* layout, int rank);

/* The first body of block b of a rank, 0 <= b <= blocks, and how many bodies the block has. */
int layout_block_first(const Layout* layout, int rank, int b);
int layout_block_bodies(const Layout* layout, int rank, int b);

#endif
