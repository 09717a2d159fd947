// SPDX-License-Identifier: Apache-2.0
// The taskwait waits for the child, not for the child's own child.
// Expect: race x; missing taskwait in the task that creates the task that holds 'x = 1'
#include <stdio.h>

static int x;

static int run(void) {
  int seen = 0;
#pragma omp task
  {
#pragma omp task
    x = 1;
  }
#pragma omp taskwait
#pragma omp task shared(seen)
  seen = x;
#pragma omp taskwait
  return seen != 1;
}

int main(void) {
  int failed = 0;
#pragma omp parallel
#pragma omp single
  failed = run();
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
