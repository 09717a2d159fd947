// SPDX-License-Identifier: Apache-2.0
// Tile t reads the last cell of tile t - 1, but depends on its own tile alone.
// Expect: race x; missing in(x) on the task that holds 'x[first - 1]'
#include <stdio.h>

enum { kTiles = 8, kTile = 16 };
static int x[kTiles * kTile], y[kTiles];

static int run(void) {
  int failed = 0;
  for (int t = 0; t < kTiles; t++) {
    int first = t * kTile;
#pragma omp task depend(out : x[first])
    for (int i = first; i < first + kTile; i++) x[i] = i;
  }
  for (int t = 1; t < kTiles; t++) {
    int first = t * kTile;
#pragma omp task depend(in : x[first]) depend(out : y[t])
    y[t] = x[first] + x[first - 1];
  }
#pragma omp taskwait
  for (int t = 1; t < kTiles; t++) failed |= y[t] != 2 * t * kTile - 1;
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
