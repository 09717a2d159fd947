// SPDX-License-Identifier: Apache-2.0
// The outer task waits for its child, so its own clause covers what the child writes.
// Expect: clean
#include <stdio.h>

static int x;

static int run(void) {
  int seen = 0;
#pragma omp task depend(out : x)
  {
#pragma omp task
    x = 1;
#pragma omp taskwait
  }
#pragma omp task depend(in : x) shared(seen)
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
