/* SPDX-License-Identifier: Apache-2.0
 *
 * Storage of blocks of bodies. A block is a few quantities of its bodies, one array per quantity, one after the other:
 * positions are x, y, z and the mass, velocities x, y, z, forces the acceleration x, y, z and the potential. Each array
 * starts on a cache line and is filled up to whole cache lines with bodies of mass 0 at the origin, so that loops over
 * the sources of a force are made of whole, aligned vectors.
 *
 * Slabs are created and destroyed by the main thread. Blocks are read and written by tasks, which name the block's
 * first number in their `depend` clauses; nothing else orders them.
 */
#ifndef NBODY_BLOCK_H
#define NBODY_BLOCK_H

#include <stdbool.h>
#include <stddef.h>

enum { kCacheLine = 64, kLineDoubles = kCacheLine / sizeof(double), kQuantities = 4 };

typedef struct {
  double* data;
  int count;  /* bodies */
  int stride; /* numbers from one quantity to the next: count, rounded up to cache lines */
} Block;

/* Room for `blocks` blocks of up to `largest` bodies; `data` is NULL if that is none. */
typedef struct {
  double* data;
  size_t room; /* numbers from one block to the next */
} Slab;

/* False if memory does not suffice. */
bool slab_create(Slab* slab, size_t blocks, int largest);
void slab_destroy(Slab* slab);

/* Block `index` of the slab, seen as one of `count` bodies. */
Block slab_block(const Slab* slab, size_t index, int count);

/* Quantity q of a block. */
static inline double* block_quantity(Block block, int q) { return block.data + (size_t)q * (size_t)block.stride; }

/* What a message carries. */
static inline int block_message_count(Block block) { return kQuantities * block.stride; }

/* All numbers, including the padding, become 0. */
void block_clear(Block block);

#endif
