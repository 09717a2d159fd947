// SPDX-License-Identifier: Apache-2.0
// The depobj was made for y, but its task reads x.
// Expect: race x; missing in(x) on the task that holds 'seen = x'
#include <stdio.h>
#include <omp.h>

static int x, y;

static int run(void) {
  int seen = 0;
  omp_depend_t reads;
#pragma omp depobj(reads) depend(in : y)
#pragma omp task depend(out : x)
  x = 1;
#pragma omp task depend(depobj : reads) shared(seen)
  seen = x;
#pragma omp taskwait
#pragma omp depobj(reads) destroy
  return seen != 1;
}

int main(void) {
  int failed = 0;
#pragma omp parallel
#pragma omp single
  failed = run();
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
