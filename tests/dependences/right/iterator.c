// SPDX-License-Identifier: Apache-2.0
// The iterator names each cell that the sum reads.
// Expect: clean
#include <stdio.h>

enum { kCells = 8 };
static int x[kCells];

static int run(void) {
  int sum = 0;
  for (int i = 0; i < kCells; i++) {
#pragma omp task depend(out : x[i])
    x[i] = i;
  }
#pragma omp task depend(iterator(int k = 0 : kCells), in : x[k]) shared(sum)
  for (int i = 0; i < kCells; i++) sum += x[i];
#pragma omp taskwait
  return sum != 28;
}

int main(void) {
  int failed = 0;
#pragma omp parallel
#pragma omp single
  failed = run();
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
