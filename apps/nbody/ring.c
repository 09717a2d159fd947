/* SPDX-License-Identifier: Apache-2.0
 *
 * Receive buffers and communication tasks; see ring.h for their order and why it cannot deadlock.
 *
 * The tasks keep nothing in thread-local storage across an MPI call: being untied, they may continue on another thread.
 */
#include "ring.h"

#include <mpi.h>

enum { kSets = 2 };

bool ring_create(Ring* ring, const Bodies* bodies, const Labels* labels) {
  const Layout* layout = bodies->layout;
  *ring = (Ring){.bodies = bodies, .labels = labels};
  size_t blocks = layout->ranks > 1 ? (size_t)layout->most_blocks * kSets : 0;
  return slab_create(&ring->buffers, blocks, layout->largest_block);
}

void ring_destroy(Ring* ring) { slab_destroy(&ring->buffers); }

int ring_owner(const Layout* layout, int hop) { return (layout->rank - hop + layout->ranks) % layout->ranks; }

Block ring_block(const Ring* ring, int hop, int b) {
  const Layout* layout = ring->bodies->layout;
  if (hop == 0) {
    return bodies_position(ring->bodies, b);
  }
  size_t index = (size_t)(hop % kSets) * (size_t)layout->most_blocks + (size_t)b;
  return slab_block(&ring->buffers, index, layout_block_bodies(layout, ring_owner(layout, hop), b));
}

/* The receiver's hop belongs to the tag: a rank may have sent on a block of a later hop while one of this hop still
 * waits for a thread. Steps need no part in it: a block's message of the next step comes after this one's, on both
 * sides, by the dependences. */
static long long message_tag(const Layout* layout, int hop, int b) { return (long long)hop * layout->most_blocks + b; }

long long ring_largest_tag(const Layout* layout) {
  return layout->ranks == 1 ? 0 : message_tag(layout, layout->ranks - 1, layout->most_blocks - 1);
}

/* No default(none) in these two: Open MPI's handles are the addresses of global variables, which it would have to
 * list. */
__attribute__((noinline)) static void task_send(Block block, int receiver, int tag) {
#pragma omp task untied firstprivate(block, receiver, tag) depend(in : block.data[0])
  MPI_Send(block.data, block_message_count(block), MPI_DOUBLE, receiver, tag, MPI_COMM_WORLD);
}

__attribute__((noinline)) static void task_recv(Block block, int sender, int tag) {
#pragma omp task untied firstprivate(block, sender, tag) depend(out : block.data[0])
  MPI_Recv(block.data, block_message_count(block), MPI_DOUBLE, sender, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send_on(const Ring* ring, int hop, int b) {
  const Layout* layout = ring->bodies->layout;
  if (b < layout_blocks(layout, ring_owner(layout, hop - 1))) {
    label_next_task(ring->labels, kLabelSend, hop);
    task_send(ring_block(ring, hop - 1, b), (layout->rank + 1) % layout->ranks, (int)message_tag(layout, hop, b));
  }
}

static void receive(const Ring* ring, int hop, int b) {
  const Layout* layout = ring->bodies->layout;
  if (b < layout_blocks(layout, ring_owner(layout, hop))) {
    label_next_task(ring->labels, kLabelRecv, hop);
    task_recv(ring_block(ring, hop, b), ring_owner(layout, 1), (int)message_tag(layout, hop, b));
  }
}

void ring_exchange(const Ring* ring, int hop) {
  const Layout* layout = ring->bodies->layout;
  for (int b = 0; b < layout->most_blocks; ++b) {
    if (layout->rank % 2 == 0) {
      send_on(ring, hop, b);
      receive(ring, hop, b);
    } else {
      receive(ring, hop, b);
      send_on(ring, hop, b);
    }
  }
}
