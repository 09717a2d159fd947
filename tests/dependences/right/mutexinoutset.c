// SPDX-License-Identifier: Apache-2.0
// The members exclude each other; the reader comes after all of them.
// Expect: clean
#include <stdio.h>

static int sum;

static int run(void) {
  int seen = 0;
#pragma omp task depend(out : sum)
  sum = 0;
  for (int i = 1; i <= 20; i++) {
#pragma omp task depend(mutexinoutset : sum)
    sum += i;
  }
#pragma omp task depend(in : sum) shared(seen)
  seen = sum;
#pragma omp taskwait
  return seen != 210;
}

int main(void) {
  int failed = 0;
#pragma omp parallel
#pragma omp single
  failed = run();
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
