// SPDX-License-Identifier: Apache-2.0
// Two buffers take turns; each step reads one and writes the other.
// Expect: clean
#include <stdio.h>

static int buffers[2][8];

static int run(void) {
  for (int step = 0; step < 10; step++) {
    int *from = buffers[step % 2], *to = buffers[(step + 1) % 2];
#pragma omp task depend(in : from[0]) depend(out : to[0])
    for (int i = 0; i < 8; i++) to[i] = from[(i + 1) % 8] + 1;
  }
#pragma omp taskwait
  return buffers[0][3] != 10;
}

int main(void) {
  int failed = 0;
#pragma omp parallel
#pragma omp single
  failed = run();
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
