/* SPDX-License-Identifier: Apache-2.0
 *
 * The bytes that a segment of a task has read and written: a hash table of granules of eight bytes, and its contents
 * as intervals. A table belongs to one task; the thread that runs the task uses it.
 */
#ifndef MARLINE_CHECK_ACCESSES_GRANULES_H
#define MARLINE_CHECK_ACCESSES_GRANULES_H

#include <stdint.h>

enum { kKinds = 4 }; /* by AccessFlags: a read, a write, an atomic read, an atomic write */

typedef struct Granule {
  uint64_t number; /* address / 8; 0: no granule */
  uint8_t bytes[kKinds];
  const void* code[kKinds];
} Granule;

typedef struct Granules {
  Granule* slots;
  uint64_t mask; /* slots - 1 */
  uint64_t count;
} Granules;

void granules_grow(Granules* table);

static inline Granule* granules_find(Granules* table, uint64_t number) {
  if (table->count * 2 >= table->mask) granules_grow(table);
  uint64_t slot = number * UINT64_C(0x9e3779b97f4a7c15) >> 20 & table->mask;
  while (table->slots[slot].number != number) {
    if (table->slots[slot].number == 0) {
      table->slots[slot].number = number;
      ++table->count;
      break;
    }
    slot = (slot + 1) & table->mask;
  }
  return &table->slots[slot];
}

static inline void granules_add(Granules* table, uint64_t address, uint64_t size, unsigned kind, const void* code) {
  while (size > 0) {
    const uint64_t first = address & 7, part = size < 8 - first ? size : 8 - first;
    const uint8_t bytes = (uint8_t)(((1u << part) - 1) << first);
    Granule* granule = granules_find(table, address >> 3);
    const uint8_t covered = (uint8_t)(granule->bytes[kind] | granule->bytes[1]);
    if ((bytes & ~covered) != 0) {
      if (granule->bytes[kind] == 0) granule->code[kind] = code;
      granule->bytes[kind] |= (uint8_t)(bytes & ~granule->bytes[1]);
    }
    address += part;
    size -= part;
  }
}

/* Writes kAccesses of the task and empties the table. */
void granules_write(Granules* table, uint64_t task);

void granules_free(Granules* table);

#endif
