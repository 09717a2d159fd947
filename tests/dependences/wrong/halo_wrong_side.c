// SPDX-License-Identifier: Apache-2.0
// The task reads the tile after its own, but depends on the tile before.
// Expect: race x; missing in(x) on the task that holds 'x[next]'
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
  for (int t = 1; t < kTiles - 1; t++) {
    int before = (t - 1) * kTile, next = (t + 1) * kTile;
#pragma omp task depend(in : x[before]) depend(out : y[t])
    y[t] = x[next];
  }
#pragma omp taskwait
  for (int t = 1; t < kTiles - 1; t++) failed |= y[t] != (t + 1) * kTile;
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
