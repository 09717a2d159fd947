// SPDX-License-Identifier: Apache-2.0
// Each task adds to the sum, and nothing keeps two additions apart.
// Expect: race sum; missing inout(sum) on the task that holds 'sum += i'
#include <stdio.h>

static int sum;

static int run(void) {
  for (int i = 1; i <= 20; i++) {
#pragma omp task
    sum += i;
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
