// SPDX-License-Identifier: Apache-2.0
// The dependences name two pointer variables, not the block that both point to.
// Expect: race p[0]; missing out(p[0]) on the task that holds 'p[0] = 1'
// Expect: race p[0]; missing in(q[0]) on the task that holds 'y = q[0]'
#include <stdio.h>
#include <stdlib.h>

static int y;

static int run(void) {
  int* p = calloc(4, sizeof *p);
  int* q = p;
  if (p == NULL) return 1;
#pragma omp task depend(out : p)
  p[0] = 1;
#pragma omp task depend(in : q) shared(y)
  y = q[0] + 1;
#pragma omp taskwait
  free(p);
  return y != 2;
}

int main(void) {
  int failed = 0;
#pragma omp parallel
#pragma omp single
  failed = run();
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
