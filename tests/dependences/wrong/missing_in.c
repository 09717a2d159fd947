// SPDX-License-Identifier: Apache-2.0
// The reader names no dependence on the value that it reads.
// Expect: race x; missing in(x) on the task that holds 'y = x'
#include <stdio.h>

static int x, y;

static int run(void) {
#pragma omp task depend(out : x)
  x = 1;
#pragma omp task depend(out : y)
  y = x + 1;
#pragma omp taskwait
  return y != 2;
}

int main(void) {
  int failed = 0;
#pragma omp parallel
#pragma omp single
  failed = run();
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
