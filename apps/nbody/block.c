/* SPDX-License-Identifier: Apache-2.0
 *
 * One allocation per slab; see block.h.
 */
#include "block.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static size_t stride_for(int count) { return ((size_t)count + kLineDoubles - 1) / kLineDoubles * kLineDoubles; }

bool slab_create(Slab* slab, size_t blocks, int largest) {
  /* A block without bodies has a cache line of its own too: its address must name it alone in `depend` clauses. */
  size_t room = kQuantities * stride_for(largest > 0 ? largest : 1);
  *slab = (Slab){.room = room};
  if (blocks == 0) {
    return true;
  }
  if (blocks > PTRDIFF_MAX / (room * sizeof(double))) {
    return false;
  }
  slab->data = aligned_alloc(kCacheLine, blocks * room * sizeof(double));
  return slab->data != NULL;
}

void slab_destroy(Slab* slab) {
  free(slab->data);
  slab->data = NULL;
}

Block slab_block(const Slab* slab, size_t index, int count) {
  return (Block){.data = slab->data + index * slab->room, .count = count, .stride = (int)stride_for(count)};
}

void block_clear(Block block) { memset(block.data, 0, (size_t)block_message_count(block) * sizeof(double)); }
