// SPDX-License-Identifier: Apache-2.0
// Two sets of tasks write the even and the odd cells; none shares a cell.
// Expect: clean
#include <stdio.h>

static int x[64];

static int run(void) {
  int failed = 0;
  for (int parity = 0; parity < 2; parity++) {
#pragma omp task
    for (int i = parity; i < 64; i += 2) x[i] = i;
  }
#pragma omp taskwait
  for (int i = 0; i < 64; i++) failed |= x[i] != i;
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
