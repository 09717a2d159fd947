// SPDX-License-Identifier: Apache-2.0
// The priority is a hint; nothing orders the reader after the writer.
// Expect: race x; missing out(x) on the task that holds 'x = 1'
// Expect: race x; missing in(x) on the task that holds 'y = x'
#include <stdio.h>

static int x, y;

static int run(void) {
#pragma omp task priority(10)
  x = 1;
#pragma omp task priority(0)
  y = x + 1;
#pragma omp taskwait
  return y != 2;
}

int main(void) {
  int failed = 0;
#pragma omp parallel
#pragma omp single
  failed = run();
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
