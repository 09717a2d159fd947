// SPDX-License-Identifier: Apache-2.0
// Each task writes every seventh byte.
// Expect: clean
#include <stdio.h>

enum { kStride = 7, kSize = 20 * kStride };
static char x[kSize];

static int run(void) {
  int failed = 0;
  for (int first = 0; first < kStride; first++) {
#pragma omp task
    for (int i = first; i < kSize; i += kStride) x[i] = (char)first;
  }
#pragma omp taskwait
  for (int i = 0; i < kSize; i++) failed |= x[i] != i % kStride;
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
