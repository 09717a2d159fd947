// SPDX-License-Identifier: Apache-2.0
// A dependence of a nested task does not reach the sibling of its parent.
// Expect: race x; missing out(x) on the task that creates the task that holds 'x = 1'
#include <stdio.h>

static int x;

static int run(void) {
  int seen = 0;
#pragma omp task
  {
#pragma omp task depend(out : x)
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
