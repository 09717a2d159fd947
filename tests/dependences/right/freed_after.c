// SPDX-License-Identifier: Apache-2.0
// The task that frees the block comes after the tasks that use it.
// Expect: clean
#include <stdio.h>
#include <stdlib.h>

static int run(void) {
  int sum = 0;
  int* block = malloc(64 * sizeof *block);
#pragma omp task depend(out : block[0])
  for (int i = 0; i < 64; i++) block[i] = i;
#pragma omp task depend(in : block[0]) shared(sum)
  for (int i = 0; i < 64; i++) sum += block[i];
#pragma omp task depend(inout : block[0])
  free(block);
#pragma omp taskwait
  return sum != 2016;
}

int main(void) {
  int failed = 0;
#pragma omp parallel
#pragma omp single
  failed = run();
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
