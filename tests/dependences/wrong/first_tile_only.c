// SPDX-License-Identifier: Apache-2.0
// The taskwait waits for the first tile, and the creator reads the last one.
// Expect: race x; missing taskwait before 'x[7]'
#include <stdio.h>

static int x[8];

static int run(void) {
  int last;
  for (int i = 0; i < 8; i++) {
#pragma omp task depend(out : x[i])
    x[i] = i;
  }
#pragma omp taskwait depend(in : x[0])
  last = x[7];
#pragma omp taskwait
  return last != 7;
}

int main(void) {
  int failed = 0;
#pragma omp parallel
#pragma omp single
  failed = run();
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
