// SPDX-License-Identifier: Apache-2.0
// Each taskloop ends its own group before the next begins.
// Expect: clean
#include <stdio.h>

enum { kCells = 32 };
static int x[kCells], y[kCells];

static int run(void) {
  int failed = 0;
#pragma omp taskloop num_tasks(4)
  for (int i = 0; i < kCells; i++) x[i] = i + 1;
#pragma omp taskloop num_tasks(4)
  for (int i = 0; i < kCells; i++) y[i] = x[kCells - 1 - i];
  for (int i = 0; i < kCells; i++) failed |= y[i] != kCells - i;
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
