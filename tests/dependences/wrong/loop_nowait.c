// SPDX-License-Identifier: Apache-2.0
// The second loop reads what other threads write in the first one, which ends without a barrier.
// Expect: race x; missing barrier between the loops
#include <stdio.h>

enum { kSize = 32 };
static int x[kSize], y[kSize];

int main(void) {
  int failed = 0;
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(static) nowait
    for (int i = 0; i < kSize; i++) x[i] = i;
#pragma omp for schedule(static)
    for (int i = 0; i < kSize; i++) y[i] = x[kSize - 1 - i];
  }
  for (int i = 0; i < kSize; i++) failed |= y[i] != kSize - 1 - i;
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
