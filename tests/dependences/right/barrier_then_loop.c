// SPDX-License-Identifier: Apache-2.0
// The barrier waits for the tasks of all threads, so the loop after it may read what they wrote.
// Expect: clean
#include <stdio.h>

enum { kSize = 32 };
static int x[kSize], y[kSize];

int main(void) {
  int failed = 0;
#pragma omp parallel
  {
#pragma omp single nowait
    for (int i = 0; i < kSize; i++) {
#pragma omp task
      x[i] = i;
    }
#pragma omp barrier
#pragma omp for
    for (int i = 0; i < kSize; i++) y[i] = x[kSize - 1 - i];
  }
  for (int i = 0; i < kSize; i++) failed |= y[i] != kSize - 1 - i;
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
