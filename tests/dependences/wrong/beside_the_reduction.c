// SPDX-License-Identifier: Apache-2.0
// One of the tasks adds to the variable itself, not to its thread's copy.
// Expect: race sum; missing inout(sum)
#include <stdio.h>

static int sum;

static int run(void) {
  int* total = &sum;
#pragma omp taskgroup task_reduction(+ : sum)
  {
#pragma omp task firstprivate(total)
    *total += 1;
#pragma omp task firstprivate(total)
    *total += 2;
#pragma omp task in_reduction(+ : sum)
    sum += 3;
  }
  return sum != 6;
}

int main(void) {
  int failed = 0;
#pragma omp parallel
#pragma omp single
  failed = run();
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
