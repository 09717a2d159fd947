/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory comes from mmap and from libc's own functions, so that the recorder does not see it as the program's.
 */
#include "granules.h"

#include "memory.h"
#include "writer.h"

#include <stdlib.h>

enum { kFirstSlots = 64, kWritten = 3 * 256 };

static uint64_t slot_of(const Granules* table, uint64_t number) {
  return number * UINT64_C(0x9e3779b97f4a7c15) >> 32 & table->mask;
}

static void grow(Granules* table) {
  Granules larger = {.mask = table->slots == NULL ? kFirstSlots - 1 : table->mask * 2 + 1, .count = table->count};
  larger.slots = memory_get(larger.mask + 1, sizeof *larger.slots);
  for (uint64_t i = 0; table->slots != NULL && i <= table->mask; ++i) {
    if (table->slots[i] == NULL) continue;
    uint64_t slot = slot_of(&larger, table->slots[i]->number);
    while (larger.slots[slot] != NULL) slot = (slot + 1) & larger.mask;
    larger.slots[slot] = table->slots[i];
  }
  memory_free(table->slots);
  table->slots = larger.slots;
  table->mask = larger.mask;
}

AccessPage* granules_find(Granules* table, uint64_t number, uint64_t base) {
  if (table->count * 2 >= table->mask) grow(table);
  uint64_t slot = slot_of(table, number);
  while (table->slots[slot] != NULL && (table->slots[slot]->number != number || table->slots[slot]->base != base))
    slot = (slot + 1) & table->mask;
  if (table->slots[slot] == NULL) {
    AccessPage* page = memory_get(1, sizeof *page);
    page->number = number;
    page->base = base;
    table->slots[slot] = page;
    ++table->count;
  }
  return table->recent[number % kRecent] = table->slots[slot];
}

static int by_number(const void* a, const void* b) {
  const uint64_t x = (*(AccessPage* const*)a)->number, y = (*(AccessPage* const*)b)->number;
  return (x > y) - (x < y);
}

typedef struct Output {
  uint64_t values[1 + kWritten];
  unsigned used;
  uint64_t low, high; /* the interval that may still grow; empty: none */
  unsigned kind;
  const void* code;
} Output;

static void end_interval(Output* out) {
  if (out->high == out->low) return;
  if (out->used + 3 > 1 + kWritten) {
    writer_put(kAccesses, out->used, out->values);
    out->used = 1;
  }
  out->values[out->used++] = out->low;
  out->values[out->used++] = (out->high - out->low) << 2 | out->kind;
  out->values[out->used++] = (uintptr_t)out->code;
  out->low = out->high = 0;
}

static void add_bytes(Output* out, const AccessPage* page, unsigned word) {
  const unsigned bytes = page->bytes[out->kind][word];
  const void* code = (const void*)(uintptr_t)(page->base << 32 | page->code[out->kind][word]);
  for (unsigned begin = 0; begin < 8;) {
    if ((bytes >> begin & 1) == 0) {
      ++begin;
      continue;
    }
    unsigned end = begin + 1;
    while (end < 8 && (bytes >> end & 1) != 0) ++end;
    const uint64_t first = (page->number << kPageBits) + word * 8;
    if (first + begin != out->high || code != out->code) {
      end_interval(out);
      out->low = first + begin;
      out->code = code;
    }
    out->high = first + end;
    begin = end;
  }
}

void granules_write(Granules* table, uint64_t task) {
  if (table->count == 0) return;
  uint64_t count = 0;
  for (uint64_t i = 0; i <= table->mask; ++i) {
    if (table->slots[i] != NULL) table->slots[count++] = table->slots[i];
  }
  qsort(table->slots, count, sizeof *table->slots, by_number);
  Output out = {.values = {task}, .used = 1};
  for (out.kind = 0; out.kind < kKinds; ++out.kind) {
    for (uint64_t i = 0; i < count; ++i) {
      for (unsigned word = 0; word < kWords; ++word) {
        if (table->slots[i]->bytes[out.kind][word] != 0) add_bytes(&out, table->slots[i], word);
      }
    }
    end_interval(&out);
  }
  if (out.used > 1) writer_put(kAccesses, out.used, out.values);
  for (uint64_t i = 0; i < count; ++i) memory_free(table->slots[i]);
  memory_free(table->slots);
  *table = (Granules){0};
}

void granules_free(Granules* table) {
  for (uint64_t i = 0; table->slots != NULL && i <= table->mask; ++i) memory_free(table->slots[i]);
  memory_free(table->slots);
  *table = (Granules){0};
}
