/* SPDX-License-Identifier: Apache-2.0
 *
 * Chains of regions on GPUs that are one device, where each region finds what the one before has left on a GPU.
 *
 *   chain REGIONS BYTES       on one array; prints the time from the first region to the end of the last
 *   apart REGIONS BYTES       the regions of a chain in turn on the first and the second node
 *   pointers                  a region stores the first pointer late, when the array lies on the GPU alone
 *   parts                     regions without order write parts of an array that are no whole blocks, after a chain
 *
 * Covers: target(nowait, depend, map:tofrom, device), target enter data(map:to), target exit data(map:from),
 *   target update(from), omp_target_alloc, omp_target_free
 */
#include "../device.h"

#include <stdlib.h>
#include <string.h>

static double* new_array(int n) {
  double* x = malloc((size_t)n * sizeof *x);
  for (int i = 0; i < n; i++) x[i] = i;
#pragma omp target enter data map(to : x[0 : n])
  return x;
}

static void check_array(double* x, int n, int added) {
#pragma omp target exit data map(from : x[0 : n])
  for (int i = 0; i < n; i++) CHECK_EQ(x[i], i + added);
  free(x);
}

static void chain(int regions, int n) {
  double* x = new_array(n);
  double begin = omp_get_wtime();
#pragma omp parallel
#pragma omp single
  for (int r = 0; r < regions; r++) {
#pragma omp target nowait depend(inout : x[0]) map(tofrom : x[0 : n])
    for (int i = 0; i < n; i++) x[i] += 1;
  }
  printf("seconds=%.6f\n", omp_get_wtime() - begin);
  check_array(x, n, regions);
}

static void apart(int regions, int n) {
  double* x = new_array(n);
#pragma omp parallel
#pragma omp single
  for (int r = 0; r < regions; r++) {
    int node = 1 + r % 2;
#pragma omp target nowait depend(inout : x[0]) map(tofrom : x[0 : n]) device(node)
    for (int i = 0; i < n; i++) x[i] += 1;
  }
  check_array(x, n, regions);
}

enum { kBlocks = 6, kInts = 1000 };

typedef struct Block {
  struct Block* next;
  int values[kInts];
} Block;

/* No region names all blocks: the last one is known to lead to the others only if the pointers are found. */
static void pointers(void) {
  int device = omp_get_default_device();
  Block* blocks[kBlocks];
  for (int b = 0; b < kBlocks; b++) {
    Block* block = blocks[b] = omp_target_alloc(sizeof(Block), device);
    for (int round = 0; round < 3; round++) {
#pragma omp target is_device_ptr(block) firstprivate(b, round)
      for (int i = 0; i < kInts; i++) block->values[i] = (round == 0 ? b : block->values[i]) + 1;
    }
    Block* next = b > 0 ? blocks[b - 1] : NULL;
#pragma omp target is_device_ptr(block, next)
    block->next = next;
  }
  Block* last = blocks[kBlocks - 1];
  for (int round = 0; round < 4; round++) {
    int node = 1 + round % (omp_get_num_devices() - 1);
#pragma omp target is_device_ptr(last) device(node)
    for (Block* block = last; block != NULL; block = block->next)
      for (int i = 0; i < kInts; i++) block->values[i] *= 2;
  }
  for (int b = 0; b < kBlocks; b++) {
    int value;
    CHECK_EQ(
        omp_target_memcpy(&value, &blocks[b]->values[kInts - 1], sizeof value, 0, 0, omp_get_initial_device(), device),
        0);
    CHECK_EQ(value, (b + 3) * 16);
    omp_target_free(blocks[b], device);
  }
}

static void parts(void) {
  enum { kParts = 7, kPart = 20045, n = kParts * kPart };
  double* x = new_array(n);
  int added = 0;
#pragma omp parallel
#pragma omp single
  for (int round = 0; round < 6; round++) {
    for (int r = 0; r < 3; r++, added++) {
#pragma omp target nowait depend(inout : x[0 : n]) map(tofrom : x[0 : n])
      for (int i = 0; i < n; i++) x[i] += 1;
    }
#pragma omp taskwait
    for (int p = 0; p < kParts; p++) {
      double* part = x + p * kPart;
#pragma omp target nowait map(tofrom : part[0 : kPart])
      for (int i = 0; i < kPart; i++) part[i] += 1;
    }
#pragma omp taskwait
    added++;
  }
  check_array(x, n, added);
}

int main(int count, char** words) {
  const char* mode = count > 1 ? words[1] : "";
  int regions = count > 2 ? atoi(words[2]) : 20, n = (count > 3 ? atoi(words[3]) : 1 << 16) / (int)sizeof(double);
  if (strcmp(mode, "chain") == 0)
    chain(regions, n);
  else if (strcmp(mode, "apart") == 0)
    apart(regions, n);
  else if (strcmp(mode, "pointers") == 0)
    pointers();
  else
    parts();
  return 0;
}
