// SPDX-License-Identifier: Apache-2.0
// The block is freed while the task may still use it.
// Expect: race q; missing taskwait before 'free'
#include <stdio.h>
#include <stdlib.h>

static int sum;

static int run(void) {
  int* q = malloc(64 * sizeof *q);
  for (int i = 0; i < 64; i++) q[i] = i;
#pragma omp task
  for (int i = 0; i < 64; i++) sum += q[i];
  free(q);
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
