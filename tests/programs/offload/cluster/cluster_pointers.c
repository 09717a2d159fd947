/* SPDX-License-Identifier: Apache-2.0
 *
 * What a region reaches without a map of its own, when the next region may run on another node: by tables of device
 * addresses, by lists that regions have built, by addresses in structures, by attached pointers, and by `declare
 * target` variables.
 *
 * Covers: target(is_device_ptr, firstprivate, map:tofrom), target data(map:tofrom, use_device_ptr),
 *   target enter data(map:to), target exit data(map:from, map:release), target update(to, from), declare target(to),
 *   omp_target_alloc, omp_target_free, omp_target_memcpy
 */
#include "../device.h"

#include <stdlib.h>

enum { N = 3000, kBlocks = 7 };

typedef struct Block {
  struct Block* next;
  int values[N];
} Block;

#pragma omp declare target
int g_counter = 5;
int g_table[N];
#pragma omp end declare target

static int g_device;

static void* take(size_t bytes) {
  void* memory = omp_target_alloc(bytes, g_device);
  CHECK(memory != NULL);
  return memory;
}

static int value_at(const int* there) {
  int value = 0;
  CHECK_EQ(omp_target_memcpy(&value, there, sizeof value, 0, 0, omp_get_initial_device(), g_device), 0);
  return value;
}

/* The host writes a table of addresses. */
static void table(void) {
  int *blocks[kBlocks], **there = take(sizeof blocks);
  for (int b = 0; b < kBlocks; b++) blocks[b] = take(N * sizeof(int));
  CHECK_EQ(omp_target_memcpy(there, blocks, sizeof blocks, 0, 0, g_device, omp_get_initial_device()), 0);
  for (int round = 0; round < 3; round++) {
#pragma omp target is_device_ptr(there) firstprivate(round)
    for (int b = 0; b < kBlocks; b++)
      for (int i = 0; i < N; i++) there[b][i] = round == 0 ? b * N + i : there[b][i] + 1;
  }
  for (int b = 0; b < kBlocks; b++) {
    CHECK_EQ(value_at(blocks[b] + N - 1), b * N + N - 1 + 2);
    omp_target_free(blocks[b], g_device);
  }
  omp_target_free(there, g_device);
}

/* Regions put the addresses together; the regions that follow the list know only the first one. */
static void list(void) {
  Block *first = NULL, *blocks[kBlocks];
  for (int b = 0; b < kBlocks; b++) {
    Block* block = blocks[b] = take(sizeof *block);
#pragma omp target is_device_ptr(block, first) firstprivate(b)
    {
      block->next = first;
      for (int i = 0; i < N; i++) block->values[i] = b;
    }
    first = block;
  }
  for (int round = 0; round < 3; round++) {
#pragma omp target is_device_ptr(first)
    for (Block* block = first; block != NULL; block = block->next) block->values[7] *= 3;
  }
  for (int b = 0; b < kBlocks; b++) {
    CHECK_EQ(value_at(&blocks[b]->values[7]), b * 27);
    CHECK_EQ(value_at(&blocks[b]->values[8]), b);
    omp_target_free(blocks[b], g_device);
  }
}

/* The same by deferred regions, none of which waits for the program. */
static void list_of_tasks(void) {
  Block* blocks[kBlocks];
  for (int b = 0; b < kBlocks; b++) blocks[b] = take(sizeof(Block));
#pragma omp parallel
#pragma omp single
  {
    for (int b = 0; b < kBlocks; b++) {
      Block *block = blocks[b], *next = b > 0 ? blocks[b - 1] : NULL;
#pragma omp target nowait is_device_ptr(block, next) firstprivate(b) depend(inout : blocks[0])
      {
        block->next = next;
        for (int i = 0; i < N; i++) block->values[i] = b;
      }
    }
    Block* first = blocks[kBlocks - 1];
    for (int round = 0; round < 3; round++) {
#pragma omp target nowait is_device_ptr(first) depend(inout : blocks[0])
      for (Block* block = first; block != NULL; block = block->next) block->values[7] *= 3;
    }
  }
  for (int b = 0; b < kBlocks; b++) {
    CHECK_EQ(value_at(&blocks[b]->values[7]), b * 27);
    omp_target_free(blocks[b], g_device);
  }
}

#ifdef __clang__ /* GCC looks for the pointer's own value, which is not mapped */
/* The address of a section's array lies outside of what is mapped; one of them is in a structure by value. */
static void sections(void) {
  static int one[4 * N], other[4 * N];
  struct {
    int* at;
    int by;
  } in;
  for (int i = 0; i < 4 * N; i++) one[i] = other[i] = i;
  int *p = one, *q = other;
#pragma omp target data map(tofrom : p[2 * N : N], q[3 * N : N]) use_device_ptr(p, q)
  {
    in.at = q, in.by = 10;
    for (int round = 0; round < 3; round++) {
#pragma omp target is_device_ptr(p) firstprivate(in)
      for (int i = 0; i < N; i++) p[2 * N + i] += 1, in.at[3 * N + i] += in.by;
    }
  }
  CHECK_EQ(one[2 * N + 1], 2 * N + 1 + 3);
  CHECK_EQ(other[4 * N - 1], 4 * N - 1 + 30);
  CHECK_EQ(one[2 * N - 1], 2 * N - 1);
}
#endif

/* Only the structure is named by the regions. */
static void attached(void) {
  struct {
    int n;
    int* values;
    int tail;
  } s = {N, malloc(N * sizeof(int)), 0};
  for (int i = 0; i < N; i++) s.values[i] = i;
#pragma omp target enter data map(to : s)
#pragma omp target enter data map(to : s.values[0 : N])
  for (int round = 0; round < 3; round++) {
#pragma omp target
    {
      for (int i = 0; i < s.n; i++) s.values[i] += 2;
      s.tail += s.values[1];
    }
  }
#pragma omp target exit data map(from : s.values[0 : N])
#pragma omp target update from(s.tail)
#pragma omp target exit data map(release : s)
  CHECK_EQ(s.values[N - 1], N - 1 + 6);
  CHECK_EQ(s.tail, 3 + 5 + 7);
  free(s.values);
}

static void variables(void) {
  if (!own_copies()) return;
  for (int round = 0; round < 4; round++) {
#pragma omp target
    {
      g_counter += 1;
      for (int i = 0; i < N; i++) g_table[i] += g_counter;
    }
  }
#pragma omp target update from(g_counter, g_table)
  CHECK_EQ(g_counter, 9);
  CHECK_EQ(g_table[N - 1], 6 + 7 + 8 + 9);
  g_counter = 100;
#pragma omp target update to(g_counter)
  int seen[3];
  for (int k = 0; k < 3; k++) {
    int* at = &seen[k];
#pragma omp target map(from : at[0 : 1])
    at[0] = g_counter;
  }
  CHECK(seen[0] == 100 && seen[1] == 100 && seen[2] == 100);
}

int main(void) {
  g_device = omp_get_default_device();
  table();
  list();
  list_of_tasks();
#ifdef __clang__
  sections();
#endif
  attached();
  variables();
  return 0;
}
