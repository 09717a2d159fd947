// SPDX-License-Identifier: Apache-2.0
// One task adds in a critical construct, the other one outside of any.
// Expect: race x; missing inout(x) on both tasks
#include <stdio.h>

static int x;

static int run(void) {
#pragma omp task
  {
#pragma omp critical
    x += 1;
  }
#pragma omp task
  x += 2;
#pragma omp taskwait
  return x != 3;
}

int main(void) {
  int failed = 0;
#pragma omp parallel
#pragma omp single
  failed = run();
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
