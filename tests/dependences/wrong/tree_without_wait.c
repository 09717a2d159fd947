// SPDX-License-Identifier: Apache-2.0
// The parent adds the children's results before they are there.
// Expect: race left; missing taskwait before 'left + right'
#include <stdio.h>

static int left, right, both;

static int run(void) {
#pragma omp task
  {
#pragma omp task
    left = 1;
#pragma omp task
    right = 2;
    both = left + right;
#pragma omp taskwait
  }
#pragma omp taskwait
  return both != 3;
}

int main(void) {
  int failed = 0;
#pragma omp parallel
#pragma omp single
  failed = run();
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
