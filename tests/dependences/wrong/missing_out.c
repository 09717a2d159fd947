// SPDX-License-Identifier: Apache-2.0
// The writer names no dependence on the value that it writes.
// Expect: race x; missing out(x) on the task that holds 'x = 1'
#include <stdio.h>

static int x, y;

static int run(void) {
#pragma omp task
  x = 1;
#pragma omp task depend(in : x) depend(out : y)
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
