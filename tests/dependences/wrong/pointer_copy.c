// SPDX-License-Identifier: Apache-2.0
// The task has a copy of the pointer, not of the array that the creator changes.
// Expect: race x; missing taskwait before 'x[i] = 0'
#include <stdio.h>

enum { kSize = 16 };
static int x[kSize], sum;

static int run(void) {
  int* p = x;
  for (int i = 0; i < kSize; i++) x[i] = 1;
#pragma omp task firstprivate(p)
  for (int i = 0; i < kSize; i++) sum += p[i];
  for (int i = 0; i < kSize; i++) x[i] = 0;
#pragma omp taskwait
  return sum != kSize;
}

int main(void) {
  int failed = 0;
#pragma omp parallel
#pragma omp single
  failed = run();
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
