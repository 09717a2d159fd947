/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks that regions link by pointers, of cluster_late_pointers.c and cluster_graph_pointers.c. A program defines
 * BLOCK_FIELDS and FAMILY_FIELDS, which may be empty, and includes this. The host follows `next` instead of the
 * pointers, and has in `expected` what the blocks must be in the end.
 */
#ifndef MARLINE_TESTS_POINTER_FAMILIES_H
#define MARLINE_TESTS_POINTER_FAMILIES_H

#include "../device.h"

#include <stdlib.h>

enum { kFamilies = 3, kBlocks = 5, kLength = 40 };

typedef struct Block {
  struct Block* next;
  BLOCK_FIELDS
  long values[kLength];
} Block;

typedef struct {
  FAMILY_FIELDS
  Block* blocks[kBlocks];
  long expected[kBlocks][kLength];
  int next[kBlocks]; /* -1: none */
} Family;

static Family g_families[kFamilies];
static char g_order[kFamilies];
static unsigned g_seed;

static int draw(int below) {
  g_seed = g_seed * 1664525u + 1013904223u;
  return (int)((g_seed >> 8) % (unsigned)below);
}

static void begin_family(int f) {
  Family* family = &g_families[f];
  for (int b = 0; b < kBlocks; b++) {
    Block* block = family->blocks[b] = calloc(1, sizeof *block);
    CHECK(block != NULL);
    family->next[b] = -1;
    for (int i = 0; i < kLength; i++) block->values[i] = family->expected[b][i] = f * 100 + b * 10 + i;
#pragma omp target enter data map(to : block[0 : 1])
  }
}

static void end_families(void) {
  for (int f = 0; f < kFamilies; f++) {
    for (int b = 0; b < kBlocks; b++) {
      Block* block = g_families[f].blocks[b];
#pragma omp target update from(block->values)
#pragma omp target exit data map(release : block[0 : 1])
      for (int i = 0; i < kLength; i++) CHECK_EQ(block->values[i], g_families[f].expected[b][i]);
      free(block);
    }
  }
}

#endif
