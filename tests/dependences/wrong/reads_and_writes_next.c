// SPDX-License-Identifier: Apache-2.0
// A task changes the element after its own, which it names as its input.
// Expect: race x; missing inout(x)
#include <stdio.h>

enum { kSize = 8 };
static int x[kSize + 1];

static int run(void) {
  for (int i = 0; i < kSize; i += 2) {
    int next = i + 1;
#pragma omp task depend(out : x[i]) depend(in : x[next])
    {
      x[i] = i;
      x[next] = i;
    }
#pragma omp task depend(in : x[next])
    x[kSize] = x[next] < 0;
#pragma omp taskwait
  }
  return x[1] != 0;
}

int main(void) {
  int failed = 0;
#pragma omp parallel
#pragma omp single
  failed = run();
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
