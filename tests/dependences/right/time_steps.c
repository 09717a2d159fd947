// SPDX-License-Identifier: Apache-2.0
// Steps that go to and fro between two arrays; each cell depends on three cells of the other one.
// Expect: clean
#include <stdio.h>

enum { kSteps = 6, kCells = 10 };
static int x[2][kCells];

static int run(void) {
  int failed = 0;
  for (int step = 0; step < kSteps; step++) {
    int* from = x[step % 2];
    int* to = x[1 - step % 2];
    for (int i = 1; i < kCells - 1; i++) {
#pragma omp task depend(in : from[i - 1], from[i], from[i + 1]) depend(out : to[i])
      to[i] = from[i - 1] + from[i] + from[i + 1] + 1;
    }
  }
#pragma omp taskwait
  for (int i = 1; i < kCells - 1; i++) failed |= x[kSteps % 2][i] == 0;
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
