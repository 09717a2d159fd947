// SPDX-License-Identifier: Apache-2.0
// The tasks fill and change the second buffer, but their clauses name the first one only.
// Expect: race y; missing inout(y) on the tasks that write 'y[i]'
#include <stdio.h>

enum { kSize = 16 };
static int x[kSize], y[kSize];

static int run(void) {
#pragma omp task depend(out : x[0])
  for (int i = 0; i < kSize; i++) x[i] = 1;
#pragma omp task depend(in : x[0])
  for (int i = 0; i < kSize; i++) y[i] = x[i] + 1;
#pragma omp task depend(in : x[0])
  for (int i = 0; i < kSize; i++) y[i] += x[i];
#pragma omp taskwait
  return y[0] != 3;
}

int main(void) {
  int failed = 0;
#pragma omp parallel
#pragma omp single
  failed = run();
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
