// SPDX-License-Identifier: Apache-2.0
// Each writer's clause names an element of the first row, but the task writes row i.
// Expect: race x; missing out(x) on the task that holds 'x[i][j] = i'
#include <stdio.h>

enum { kSize = 8 };
static int x[kSize][kSize], sums[kSize];

static int run(void) {
  int failed = 0;
  for (int i = 1; i < kSize; i++) {
#pragma omp task depend(out : x[0][i])
    for (int j = 0; j < kSize; j++) x[i][j] = i;
  }
  for (int i = 1; i < kSize; i++) {
#pragma omp task depend(in : x[i][0])
    for (int j = 0; j < kSize; j++) sums[i] += x[i][j];
  }
#pragma omp taskwait
  for (int i = 1; i < kSize; i++) failed |= sums[i] != i * kSize;
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
