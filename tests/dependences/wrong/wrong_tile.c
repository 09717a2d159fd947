// SPDX-License-Identifier: Apache-2.0
// The reader depends on the tile after the one that it reads.
// Expect: race x; missing in(x) on the task that holds 'x[t] + 1'
#include <stdio.h>

static int x[9], y[8];

static int run(void) {
  int failed = 0;
  for (int t = 0; t < 8; t++) {
#pragma omp task depend(out : x[t])
    x[t] = t + 1;
  }
  for (int t = 0; t < 8; t++) {
#pragma omp task depend(in : x[t + 1]) depend(out : y[t])
    y[t] = x[t] + 1;
  }
#pragma omp taskwait
  for (int t = 0; t < 8; t++) failed |= y[t] != t + 2;
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
