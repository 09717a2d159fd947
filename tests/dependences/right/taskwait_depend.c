// SPDX-License-Identifier: Apache-2.0
// The taskwait waits for the one task that writes what is read next.
// Expect: clean
#include <stdio.h>

static int x;

static int run(void) {
#pragma omp task depend(out : x)
  x = 7;
#pragma omp taskwait depend(in : x)
  return x != 7;
}

int main(void) {
  int failed = 0;
#pragma omp parallel
#pragma omp single
  failed = run();
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
