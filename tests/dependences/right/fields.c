// SPDX-License-Identifier: Apache-2.0
// Tasks without an order write neighbouring fields of one object.
// Expect: clean
#include <stdio.h>

static struct {
  short a, b;
  int c;
  char d, e;
} x;

static int run(void) {
#pragma omp task
  x.a = 1;
#pragma omp task
  x.b = 2;
#pragma omp task
  x.c = 3;
#pragma omp task
  x.d = 4;
#pragma omp task
  x.e = 5;
#pragma omp taskwait
  return x.a + x.b + x.c + x.d + x.e != 15;
}

int main(void) {
  int failed = 0;
#pragma omp parallel
#pragma omp single
  failed = run();
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
