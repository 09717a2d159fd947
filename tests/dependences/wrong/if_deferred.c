// SPDX-License-Identifier: Apache-2.0
// Small tasks run at once by the if clause, the others are deferred without a dependence.
// Expect: race x; missing inout(x) on both tasks
#include <stdio.h>

static int x;

static int run(void) {
  for (int size = 0; size < 4; size++) {
#pragma omp task if (size > 1)
    x += size;
  }
#pragma omp taskwait
  return x != 6;
}

int main(void) {
  int failed = 0;
#pragma omp parallel
#pragma omp single
  failed = run();
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
