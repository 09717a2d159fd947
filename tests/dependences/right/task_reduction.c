// SPDX-License-Identifier: Apache-2.0
// Tasks add to copies of the variable that belong to their threads.
// Expect: clean
#include <stdio.h>

static int run(void) {
  int sum = 0;
#pragma omp taskgroup task_reduction(+ : sum)
  {
    for (int i = 0; i < 100; i++) {
#pragma omp task in_reduction(+ : sum)
      sum += i;
    }
  }
  return sum != 4950;
}

int main(void) {
  int failed = 0;
#pragma omp parallel
#pragma omp single
  failed = run();
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
