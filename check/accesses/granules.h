/* SPDX-License-Identifier: Apache-2.0
 *
 * The bytes that a segment of a task has read and written: pages of 512 bytes in a hash table, and their contents as
 * intervals. A table belongs to one task; the thread that runs the task uses it.
 */
#ifndef MARLINE_CHECK_ACCESSES_GRANULES_H
#define MARLINE_CHECK_ACCESSES_GRANULES_H

#include <stdint.h>

/* kKinds: by AccessFlags: a read, a write, an atomic read, an atomic write. kWords: of eight bytes, in a page. */
enum { kKinds = 4, kWords = 64, kPageBits = 9, kRecent = 16 };

typedef struct AccessPage {
  uint64_t number;               /* address >> kPageBits */
  uint8_t bytes[kKinds][kWords]; /* a bit for each byte */
  uint32_t code[kKinds][kWords]; /* of the first such access of the word; the low half */
  uint64_t base;                 /* the high half of all of them */
} AccessPage;

typedef struct Granules {
  AccessPage* recent[kRecent]; /* by the low bits of their numbers; null, or pages of the table */
  AccessPage** slots;
  uint64_t mask; /* slots - 1 */
  uint64_t count;
} Granules;

/* The table's page with that number, a new one if need be. Code has another high half than the page's: the page is
 * found under a number of its own. */
AccessPage* granules_find(Granules* table, uint64_t number, uint64_t base);

static inline void granules_add(Granules* table, uint64_t address, uint64_t size, unsigned kind, const void* code) {
  while (size > 0) {
    const uint64_t first = address & 7, part = size < 8 - first ? size : 8 - first;
    const unsigned bytes = ((1u << part) - 1) << first;
    const uint64_t number = address >> kPageBits, base = (uintptr_t)code >> 32;
    AccessPage* page = table->recent[number % kRecent];
    if (__builtin_expect(page == 0 || page->number != number || page->base != base, 0))
      page = granules_find(table, number, base);
    const uint64_t word = address >> 3 & (kWords - 1);
    uint8_t* there = &page->bytes[kind][word];
    const unsigned fresh = bytes & ~(unsigned)(*there | page->bytes[1][word]);
    if (fresh != 0) {
      if (*there == 0) page->code[kind][word] = (uint32_t)(uintptr_t)code;
      *there = (uint8_t)(*there | fresh);
    }
    address += part;
    size -= part;
  }
}

/* Writes kAccesses of the task and empties the table. */
void granules_write(Granules* table, uint64_t task);

void granules_free(Granules* table);

#endif
