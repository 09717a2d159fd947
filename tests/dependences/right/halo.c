// SPDX-License-Identifier: Apache-2.0
// Each task reads the outer cells of two neighbouring tiles, and names both tiles.
// Expect: clean
#include <stdio.h>

enum { kTiles = 8, kTile = 16 };
static int x[(kTiles + 2) * kTile], y[kTiles + 2];

static int run(void) {
  int failed = 0;
  for (int t = 0; t < kTiles + 2; t++) {
    int first = t * kTile;
#pragma omp task depend(out : x[first])
    for (int i = first; i < first + kTile; i++) x[i] = i;
  }
  for (int t = 1; t <= kTiles; t++) {
    int first = t * kTile, next = first + kTile, before = first - kTile;
#pragma omp task depend(in : x[before], x[next]) depend(out : y[t])
    y[t] = x[first - 1] + x[next];
  }
#pragma omp taskwait
  for (int t = 1; t <= kTiles; t++) failed |= y[t] != (2 * t + 1) * kTile - 1;
  return failed;
}

int main(void) {
  int failed = 0;
#pragma omp parallel
#pragma omp single
  failed = run();
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
