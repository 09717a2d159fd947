// SPDX-License-Identifier: Apache-2.0
// The corner is covered through the neighbours: left waits for the corner.
// Expect: clean
#include <stdio.h>

enum { kSize = 8 };
static int x[kSize][kSize];

static int run(void) {
  for (int i = 0; i < kSize; i++) x[i][0] = x[0][i] = 1;
  for (int i = 1; i < kSize; i++)
    for (int j = 1; j < kSize; j++) {
#pragma omp task depend(in : x[i - 1][j], x[i][j - 1]) depend(out : x[i][j])
      x[i][j] = (x[i - 1][j] + x[i][j - 1] + x[i - 1][j - 1]) % 1009;
    }
#pragma omp taskwait
  int y[kSize][kSize], failed = 0;
  for (int i = 0; i < kSize; i++) y[i][0] = y[0][i] = 1;
  for (int i = 1; i < kSize; i++)
    for (int j = 1; j < kSize; j++) {
      y[i][j] = (y[i - 1][j] + y[i][j - 1] + y[i - 1][j - 1]) % 1009;
      failed |= x[i][j] != y[i][j];
    }
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
