/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory comes from mmap and from libc's own functions, so that the recorder does not see it as the program's.
 */
#include "granules.h"

#include "heap.h"
#include "writer.h"

#include <stdlib.h>
#include <string.h>

enum { kFirstSlots = 256, kWritten = 3 * 1024, kKept = 1 << 12 };

void granules_grow(Granules* table) {
  Granules larger = {.mask = table->slots == NULL ? kFirstSlots - 1 : table->mask * 2 + 1};
  larger.slots = heap_calloc(larger.mask + 1, sizeof(Granule));
  for (uint64_t i = 0; table->slots != NULL && i <= table->mask; ++i) {
    if (table->slots[i].number == 0) continue;
    uint64_t slot = table->slots[i].number * UINT64_C(0x9e3779b97f4a7c15) >> 20 & larger.mask;
    while (larger.slots[slot].number != 0) slot = (slot + 1) & larger.mask;
    larger.slots[slot] = table->slots[i];
    ++larger.count;
  }
  heap_free(table->slots);
  *table = larger;
}

static int by_number(const void* a, const void* b) {
  const uint64_t x = ((const Granule*)a)->number, y = ((const Granule*)b)->number;
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

static void add_bytes(Output* out, const Granule* granule, unsigned kind) {
  const unsigned bytes = granule->bytes[kind];
  for (unsigned begin = 0; begin < 8;) {
    if ((bytes >> begin & 1) == 0) {
      ++begin;
      continue;
    }
    unsigned end = begin + 1;
    while (end < 8 && (bytes >> end & 1) != 0) ++end;
    const uint64_t low = granule->number * 8 + begin;
    if (low != out->high || granule->code[kind] != out->code) {
      end_interval(out);
      out->low = low;
      out->code = granule->code[kind];
    }
    out->high = granule->number * 8 + end;
    begin = end;
  }
}

void granules_write(Granules* table, uint64_t task) {
  if (table->count == 0) return;
  uint64_t count = 0;
  for (uint64_t i = 0; i <= table->mask; ++i) {
    if (table->slots[i].number != 0) table->slots[count++] = table->slots[i];
  }
  qsort(table->slots, count, sizeof(Granule), by_number);
  Output out = {.values = {task}, .used = 1};
  for (out.kind = 0; out.kind < kKinds; ++out.kind) {
    for (uint64_t i = 0; i < count; ++i) add_bytes(&out, &table->slots[i], out.kind);
    end_interval(&out);
  }
  if (out.used > 1) writer_put(kAccesses, out.used, out.values);
  if (table->mask >= kKept)
    granules_free(table);
  else
    memset(table->slots, 0, (table->mask + 1) * sizeof(Granule));
  table->count = 0;
}

void granules_free(Granules* table) {
  heap_free(table->slots);
  *table = (Granules){0};
}
