// SPDX-License-Identifier: Apache-2.0
// The additions stand in a critical region.
// Expect: clean
#include <stdio.h>

static int sum;

static int run(void) {
  for (int i = 1; i <= 20; i++) {
#pragma omp task
    {
#pragma omp critical
      sum += i;
    }
  }
#pragma omp taskwait
  return sum != 210;
}

int main(void) {
  int failed = 0;
#pragma omp parallel
#pragma omp single
  failed = run();
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
