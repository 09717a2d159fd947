// SPDX-License-Identifier: Apache-2.0
// Tasks change the count, each in one step. Nothing orders the task that reads it after them.
// Expect: race x; missing in(x)
#include <stdio.h>

static int x, seen;

static int run(void) {
  for (int i = 0; i < 10; i++) {
#pragma omp task
    {
#pragma omp atomic
      x++;
    }
  }
#pragma omp task
  seen = x;
#pragma omp taskwait
  return seen != 10;
}

int main(void) {
  int failed = 0;
#pragma omp parallel
#pragma omp single
  failed = run();
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
