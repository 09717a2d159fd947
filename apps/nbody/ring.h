/* SPDX-License-Identifier: Apache-2.0
 *
 * The way of the blocks round the ring of ranks. At hop h a rank sees the positions of the rank h places to its left:
 * its own at hop 0. Hop by hop it sends what it sees to its right neighbour and receives from its left one what it sees
 * next, a block per message, by plain blocking MPI_Send and MPI_Recv in tasks of their own.
 *
 * Memory is bounded: there are two sets of receive buffers, hop h uses set h mod 2, and since the receiving task has
 * `depend(out)` on its buffer it waits for the readers of hop h - 2, among them the task that sent it on.
 *
 * That cannot deadlock. The messages of one hop are created along one total order that all ranks share: by block; for
 * one block, first the messages of senders with an even rank, then the messages of the others. Hence the order of
 * creation itself is a valid sequential execution, even if every send waits for its receive: README.md has the argument
 * in full.
 *
 * A Ring is created by the main thread; ring_exchange is called by one thread per phase.
 */
#ifndef NBODY_RING_H
#define NBODY_RING_H

#include "bodies.h"
#include "labels.h"

typedef struct {
  const Bodies* bodies;
  const Labels* labels;
  Slab buffers; /* 2 x most_blocks; empty if there is one rank */
} Ring;

/* False if memory does not suffice. */
bool ring_create(Ring* ring, const Bodies* bodies, const Labels* labels);
void ring_destroy(Ring* ring);

/* The largest message tag that is used. May exceed what MPI's MPI_TAG_UB holds: check first. */
long long ring_largest_tag(const Layout* layout);

/* The rank that owns the blocks which this rank sees at a hop. */
int ring_owner(const Layout* layout, int hop);

/* Positions of block b of that owner: this process' own, or the receive buffer. */
Block ring_block(const Ring* ring, int hop, int b);

/* Creates the tasks that receive the blocks of a hop, 1 <= hop < ranks, and the tasks that send on the blocks that the
 * right neighbour sees at that hop. */
void ring_exchange(const Ring* ring, int hop);

#endif
