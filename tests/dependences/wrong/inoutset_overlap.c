// SPDX-License-Identifier: Apache-2.0
// Members of an inoutset run side by side, and both write cell 4.
// Expect: race x; missing inout(x) on the task that holds 'x[i] += 1'
#include <stdio.h>

static int x[8];

static int run(void) {
#pragma omp task depend(inoutset : x[0])
  for (int i = 0; i < 5; i++) x[i] += 1;
#pragma omp task depend(inoutset : x[0])
  for (int i = 4; i < 8; i++) x[i] += 2;
#pragma omp taskwait
  return x[4] != 3 || x[0] != 1 || x[7] != 2;
}

int main(void) {
  int failed = 0;
#pragma omp parallel
#pragma omp single
  failed = run();
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
