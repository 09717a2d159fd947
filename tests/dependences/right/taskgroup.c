// SPDX-License-Identifier: Apache-2.0
// The group's end waits for the grandchildren too.
// Expect: clean
#include <stdio.h>

static int x;

static int run(void) {
  int seen = 0;
#pragma omp taskgroup
  {
#pragma omp task
    {
#pragma omp task
      x = 1;
    }
  }
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
