/* SPDX-License-Identifier: Apache-2.0
 *
 * The gain of running tasks depth first: 8 passes over blocks that together exceed the caches next to the core.
 * Figures, wall time per task (one pass over one block of 64 KiB): `depth_first`, where the passes over a block are a
 * chain of dependences, so that the next pass finds the block in the cache; `pass_by_pass`, the same tasks with a
 * taskwait between the passes.
 */
#include "bench.h"

enum { kBlocks = 256, kBlockWords = 64 * 1024 / 8, kPasses = 8 };

static double (*blocks)[kBlockWords];

static void pass_over(double* block) {
  for (int i = 0; i < kBlockWords; i++) block[i] = block[i] * 0.5 + 1.0;
}

static void create_pass(void) {
  for (int b = 0; b < kBlocks; b++) {
    double* block = blocks[b];
#pragma omp task firstprivate(block) depend(inout : block[0])
    pass_over(block);
  }
}

static void run(long rounds, int waits) {
  memset(blocks, 0, kBlocks * sizeof *blocks);
#pragma omp parallel
#pragma omp single
  for (long round = 0; round < rounds; round++) {
    for (int pass = 0; pass < kPasses; pass++) {
      create_pass();
      if (waits) {
#pragma omp taskwait
      }
    }
#pragma omp taskwait
  }
}

static void depth_first(long rounds) { run(rounds, 0); }
static void pass_by_pass(long rounds) { run(rounds, 1); }

static int check(long rounds) {
  double expected = 0;
  for (long i = 0; i < rounds * kPasses; i++) expected = expected * 0.5 + 1.0;
  for (int b = 0; b < kBlocks; b++)
    if (blocks[b][0] != expected || blocks[b][kBlockWords - 1] != expected) return 0;
  return 1;
}

int main(int argc, char** argv) {
  static const struct BenchFigure figures[] = {{"depth_first", "ns", kBlocks * kPasses, depth_first, check, NULL},
                                               {"pass_by_pass", "ns", kBlocks * kPasses, pass_by_pass, check, NULL}};
  blocks = aligned_alloc(4096, kBlocks * sizeof *blocks);
  if (blocks == NULL) bench_fail("out of memory");
  return bench_main(argc, argv, figures, 2);
}
