// SPDX-License-Identifier: Apache-2.0
// Pivots, divisions and updates with the dependences of a Cholesky factorisation.
// Expect: clean
#include <stdio.h>

enum { kTiles = 4 };
static double x[kTiles][kTiles];

static int run(void) {
  int failed = 0;
  for (int i = 0; i < kTiles; i++) {
    for (int j = 0; j < kTiles; j++) x[i][j] = i == j ? kTiles + 1 : 1;
  }
  for (int k = 0; k < kTiles; k++) {
#pragma omp task depend(inout : x[k][k])
    x[k][k] = x[k][k] > 0;
    for (int i = k + 1; i < kTiles; i++) {
#pragma omp task depend(in : x[k][k]) depend(inout : x[i][k])
      x[i][k] /= x[k][k];
    }
    for (int i = k + 1; i < kTiles; i++) {
      for (int j = k + 1; j <= i; j++) {
#pragma omp task depend(in : x[i][k], x[j][k]) depend(inout : x[i][j])
        x[i][j] += x[i][k] * x[j][k];
      }
    }
  }
#pragma omp taskwait
  for (int i = 0; i < kTiles; i++) failed |= x[i][i] != 1;
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
