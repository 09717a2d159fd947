/* SPDX-License-Identifier: Apache-2.0
 *
 * The second level: regions of a cluster that use all threads of their node, by loops and by tasks, and that have
 * target constructs inside, which OpenMP leaves open. These run on the same node: on its own devices if it has some,
 * else on its host. What they write is the region's: the next region, on another node, finds it. (Clang makes a target
 * construct inside of a region a part of it: no task, no map.) Serial code says what must come out.
 *
 * Covers: target(nowait, depend, device, map:tofrom, firstprivate), target data(map:tofrom, device),
 *   target update(to, from, device), parallel(reduction), task(depend:inout), omp_get_num_devices
 */
#include "../device.h"

#include <unistd.h>

#ifdef __clang__
#define GCC 0
#else
#define GCC 1
#endif

enum { N = 240, kParts = 4, kBlocks = 5, kRounds = 4, kPart = N / kParts };

typedef struct {
  int values[N];
  int threads, elsewhere,
      copies; /* of its loops; target constructs in other processes, and that had copies of the data */
} Block;

#pragma omp declare target
static int step(int value, int k) { return value * 3 + k; }

/* Every round does this to each value, whatever the way. */
static void serially(int* values) {
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < N; i++) values[i] = step(values[i], k + i);
}

static void by_loops(Block* block) {
  int sum = 0;
  for (int k = 0; k < 3; k++) {
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < N; i++) {
      block->values[i] = step(block->values[i], k + i);
      sum++;
    }
  }
  block->elsewhere += sum != 3 * N;
#pragma omp parallel
#pragma omp single
  block->threads = omp_get_num_threads();
}

static void by_tasks(int* values) {
#pragma omp parallel
#pragma omp single
  for (int k = 0; k < 3; k++)
    for (int p = 0; p < kParts; p++) {
      int* part = values + p * kPart;
#pragma omp task depend(inout : part[0]) firstprivate(part, k, p)
      for (int i = 0; i < kPart; i++) part[i] = step(part[i], k + p * kPart + i);
    }
}

/* A graph of deferred constructs that the node creates and runs; host tasks among them. */
static void by_target_tasks(int* values, int* elsewhere) {
  int process = (int)getpid(), others = 0;
#pragma omp parallel
#pragma omp single
  for (int k = 0; k < 3; k++)
    for (int p = 0; p < kParts; p++) {
      int* part = values + p * kPart;
      if (p == 1) {
#pragma omp task depend(inout : part[0]) firstprivate(part, k, p)
        for (int i = 0; i < kPart; i++) part[i] = step(part[i], k + p * kPart + i);
#pragma omp taskwait /* for Clang's code, as its target constructs do not wait */
        continue;
      }
#pragma omp target nowait depend(inout : part[0]) map(tofrom : part[0 : kPart], others) firstprivate(k, p, process)
      {
        for (int i = 0; i < kPart; i++) part[i] = step(part[i], k + p * kPart + i);
        if ((int)getpid() != process) {
#pragma omp atomic
          others++;
        }
      }
    }
  *elsewhere += others;
}

/* On each of the node's own devices in turn, by maps alone. */
static void on_devices(int* values, int* copies) {
  int devices = omp_get_num_devices();
  if (devices == 0) devices = 1;
  for (int k = 0; k < 3; k++) {
    int d = k % devices, before = values[0];
#pragma omp target data map(tofrom : values[0 : N]) device(d)
    {
#pragma omp target map(tofrom : values[0 : N]) firstprivate(k) device(d)
      for (int i = 0; i < N / 2; i++) values[i] = step(values[i], k + i);
      *copies += values[0] == before;
#pragma omp target update from(values[0 : N]) device(d)
      for (int i = N / 2; i < N; i++) values[i] = step(values[i], k + i);
#pragma omp target update to(values[0 : N]) device(d)
    }
  }
}

/* Two levels more, each of which maps what the one above has got. (Clang cannot compile a function that calls itself in
 * its target construct.) */
static void quarter(int* values, int first, int k) {
#pragma omp target map(tofrom : values[0 : N / 4]) firstprivate(first, k)
  for (int i = 0; i < N / 4; i++) values[i] = step(values[i], k + first + i);
}

static void half(int* values, int first, int k) {
#pragma omp target map(tofrom : values[0 : N / 2]) firstprivate(first, k)
  {
    quarter(values, first, k);
    quarter(values + N / 4, first + N / 4, k);
  }
}

static void by_levels(int* values) {
  for (int k = 0; k < 3; k++) {
    half(values, 0, k);
    half(values + N / 2, N / 2, k);
  }
}

static void one_round(Block* block, int way) {
  switch (way % 5) {
    case 0: by_loops(block); break;
    case 1: by_tasks(block->values); break;
    case 2: by_target_tasks(block->values, &block->elsewhere); break;
    case 3: on_devices(block->values, &block->copies); break;
    default: by_levels(block->values);
  }
}
#pragma omp end declare target

int main(void) {
  static Block blocks[kBlocks];
  for (int b = 0; b < kBlocks; b++)
    for (int i = 0; i < N; i++) blocks[b].values[i] = b * N + i;
#pragma omp target enter data map(to : blocks)
#pragma omp parallel
#pragma omp single
  for (int round = 0; round < kRounds; round++)
    for (int b = 0; b < kBlocks; b++) {
      Block* block = &blocks[b];
#pragma omp target nowait depend(inout : block[0]) map(tofrom : block[0 : 1]) firstprivate(round, b)
      one_round(block, round + b);
    }
#pragma omp target exit data map(from : blocks)
  const char* devices = getenv("MARLINE_DEVICES");
  int has_copies = GCC && devices != NULL && strstr(devices, "host:2") != NULL;
  for (int b = 0; b < kBlocks; b++) {
    int expected[N], has_looped = 0, copies = 0;
    for (int i = 0; i < N; i++) expected[i] = b * N + i;
    for (int round = 0; round < kRounds; round++) {
      serially(expected);
      has_looped = has_looped || (round + b) % 5 == 0;
      copies += (round + b) % 5 == 3 ? 3 : 0;
    }
    for (int i = 0; i < N; i++) CHECK_EQ(blocks[b].values[i], expected[i]);
    CHECK_EQ(blocks[b].elsewhere, 0);
    CHECK_EQ(blocks[b].copies, has_copies ? copies : 0);
    CHECK_EQ(blocks[b].threads, has_looped ? omp_get_max_threads() : 0);
  }
  return 0;
}
