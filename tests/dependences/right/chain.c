// SPDX-License-Identifier: Apache-2.0
// Each task depends on the value that it changes.
// Expect: clean
#include <stdio.h>

static int x;

static int run(void) {
  for (int i = 0; i < 50; i++) {
#pragma omp task depend(inout : x)
    x = x * 3 % 1009 + 1;
  }
  int wanted = 0;
  for (int i = 0; i < 50; i++) wanted = wanted * 3 % 1009 + 1;
#pragma omp taskwait
  return x != wanted;
}

int main(void) {
  int failed = 0;
#pragma omp parallel
#pragma omp single
  failed = run();
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
