// SPDX-License-Identifier: Apache-2.0
// Both tasks read the first cell, and say so; the second one also reads what the first one writes.
// Expect: race x; missing in(x) on the task that holds 'x[0] + x[1]'
#include <stdio.h>

static int x[3];

static void run(void) {
#pragma omp task depend(in : x[0]) depend(out : x[1])
  x[1] = x[0] + 1;
#pragma omp task depend(in : x[0]) depend(out : x[2])
  x[2] = x[0] + x[1];
#pragma omp taskwait
}

int main(void) {
#pragma omp parallel
#pragma omp single
  run();
  printf("%d\n", x[2]);
  return 0;
}
