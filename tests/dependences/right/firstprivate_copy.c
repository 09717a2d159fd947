// SPDX-License-Identifier: Apache-2.0
// The creator changes its array at once: each task has a copy.
// Expect: clean
#include <stdio.h>

enum { kSize = 16 };
static int sums[kSize];

static int run(void) {
  int failed = 0, x[kSize] = {0};
  for (int i = 0; i < kSize; i++) {
    x[i] = 1;
#pragma omp task firstprivate(x)
    for (int j = 0; j < kSize; j++) sums[i] += x[j];
  }
#pragma omp taskwait
  for (int i = 0; i < kSize; i++) failed |= sums[i] != i + 1;
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
