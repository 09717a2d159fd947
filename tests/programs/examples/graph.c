/* SPDX-License-Identifier: Apache-2.0
 *
 * Example: a heat equation in blocks, as a persistent graph. The first iteration is recorded; the later ones create the
 * same tasks again at the cost of copying their firstprivate data. The program checks the result against a serial run.
 *
 * Covers: marline persistent graphs
 */
#include "../check.h"
#include <marline/marline.h>

enum { kBlocks = 16, kCells = 64, kIterations = 50 };

static double now[kBlocks + 2][kCells], next[kBlocks + 2][kCells], serial[2][kBlocks + 2][kCells];

static void smooth(double (*to)[kCells], double (*from)[kCells], int b) {
  for (int i = 0; i < kCells; ++i) to[b][i] = 0.5 * from[b][i] + 0.25 * (from[b - 1][i] + from[b + 1][i]);
}

int main(void) {
  now[0][3] = serial[0][0][3] = serial[1][0][3] = next[0][3] = 100;
#pragma omp parallel
#pragma omp single
  MARLINE_GRAPH_FOR(int it = 0, it < kIterations, ++it, MARLINE_GRAPH_NOWAIT) {
    for (int b = 1; b <= kBlocks; ++b)
#pragma omp task depend(in : now[b - 1], now[b], now[b + 1]) depend(out : next[b])
      smooth(next, now, b);
    for (int b = 1; b <= kBlocks; ++b)
#pragma omp task depend(in : next[b]) depend(out : now[b])
      memcpy(now[b], next[b], sizeof now[b]);
  }
  for (int it = 0; it < kIterations; ++it) {
    for (int b = 1; b <= kBlocks; ++b) smooth(serial[1], serial[0], b);
    memcpy(serial[0], serial[1], sizeof serial[0]);
  }
  CHECK(memcmp(now, serial[0], sizeof now) == 0);
  printf("%d iterations, the middle of block 1 at %.3f degrees\n", kIterations, now[1][3]);
  return 0;
}
