// SPDX-License-Identifier: Apache-2.0
// The depobj names the value that its task reads.
// Expect: clean
#include <stdio.h>
#include <omp.h>

static int x;

static int run(void) {
  int seen = 0;
  omp_depend_t reads;
#pragma omp depobj(reads) depend(in : x)
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
