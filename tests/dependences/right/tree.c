// SPDX-License-Identifier: Apache-2.0
// Each task waits for its two children before it adds their results.
// Expect: clean
#include <stdio.h>

static int sum(int depth) {
  int left = 0, right = 0;
  if (depth == 0) return 1;
#pragma omp task shared(left)
  left = sum(depth - 1);
#pragma omp task shared(right)
  right = sum(depth - 1);
#pragma omp taskwait
  return left + right;
}

static int run(void) { return sum(6) != 64; }

int main(void) {
  int failed = 0;
#pragma omp parallel
#pragma omp single
  failed = run();
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
