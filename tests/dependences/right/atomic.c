// SPDX-License-Identifier: Apache-2.0
// The tasks have no order, but each changes the counter in one step.
// Expect: clean
#include <stdio.h>

static int count;

static int run(void) {
  for (int i = 0; i < 100; i++) {
#pragma omp task
    {
#pragma omp atomic
      count++;
    }
  }
#pragma omp taskwait
  return count != 100;
}

int main(void) {
  int failed = 0;
#pragma omp parallel
#pragma omp single
  failed = run();
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
