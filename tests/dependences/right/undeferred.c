// SPDX-License-Identifier: Apache-2.0
// The creator runs the task at once and goes on after it.
// Expect: clean
#include <stdio.h>

static int x;

static int run(void) {
#pragma omp task if (0)
  x = 1;
#pragma omp task
  x++;
#pragma omp taskwait
  return x != 2;
}

int main(void) {
  int failed = 0;
#pragma omp parallel
#pragma omp single
  failed = run();
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
