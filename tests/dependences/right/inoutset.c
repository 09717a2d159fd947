// SPDX-License-Identifier: Apache-2.0
// The members write cells of their own; the reader comes after both.
// Expect: clean
#include <stdio.h>

static int x[8];

static int run(void) {
  int sum = 0;
#pragma omp task depend(inoutset : x[0])
  for (int i = 0; i < 4; i++) x[i] = 1;
#pragma omp task depend(inoutset : x[0])
  for (int i = 4; i < 8; i++) x[i] = 2;
#pragma omp task depend(in : x[0]) shared(sum)
  for (int i = 0; i < 8; i++) sum += x[i];
#pragma omp taskwait
  return sum != 12;
}

int main(void) {
  int failed = 0;
#pragma omp parallel
#pragma omp single
  failed = run();
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
