// SPDX-License-Identifier: Apache-2.0
// Tasks that may go on on another thread, and use nothing of a thread.
// Expect: clean
#include <stdio.h>

static int x[8];

static int run(void) {
  int failed = 0;
  for (int i = 0; i < 8; i++) {
#pragma omp task untied depend(out : x[i])
    {
      int half = i * 10;
#pragma omp taskyield
      x[i] = 2 * half;
    }
#pragma omp task depend(inout : x[i])
    x[i] += 1;
  }
#pragma omp taskwait
  for (int i = 0; i < 8; i++) failed |= x[i] != 20 * i + 1;
  return failed;
}

int main(void) {
  int failed = 0;
#pragma omp parallel
#pragma omp single
  failed = run();
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
