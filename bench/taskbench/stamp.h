/* SPDX-License-Identifier: Apache-2.0
 *
 * The content of an output: a stamp at the start of every cache line and at its end. For the host, and for devices.
 * Pure functions of a cell that the caller may read, or write.
 */
#ifndef MARLINE_TASKBENCH_STAMP_H
#define MARLINE_TASKBENCH_STAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "graph.h"

enum { kLine = 64 };

struct Stamp {
  uint32_t step; /* counts on over the runs; 0: the cell was never written */
  uint32_t column;
  uint64_t digest;
};

/* The digest of a task: a hash over the digests of its inputs and over its place; graph_check limits how large the
 * numbers of a place are.
 */
static inline uint64_t stamp_digest(long t, long i, uint64_t sum_of_inputs) {
  return mix(sum_of_inputs + ((uint64_t)t << 20) + (uint64_t)i);
}

/* Checks each stamp of a cell of `bytes` bytes. True: all have this step and column, and the digest of the first
 * one, which is in *first. False: byte *at holds another one, *is. */
static inline bool stamp_check(const char* cell, size_t bytes, uint32_t step, uint32_t column, struct Stamp* first,
                               struct Stamp* is, size_t* at) {
  size_t last = bytes - sizeof *is;
  memcpy(first, cell, sizeof *first);
  *is = *first;
  *at = 0;
  if (first->step != step || first->column != column) return false;
  for (*at = kLine; *at <= last; *at += kLine) {
    memcpy(is, cell + *at, sizeof *is);
    if (memcmp(is, first, sizeof *is)) return false;
  }
  *at = last;
  memcpy(is, cell + last, sizeof *is);
  return !memcmp(is, first, sizeof *is);
}

static inline void stamp_write(char* cell, size_t bytes, struct Stamp stamp) {
  size_t last = bytes - sizeof stamp;
  for (size_t at = 0; at <= last; at += kLine) memcpy(cell + at, &stamp, sizeof stamp);
  memcpy(cell + last, &stamp, sizeof stamp);
}

#endif
