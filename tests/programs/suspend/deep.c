/* SPDX-License-Identifier: Apache-2.0
 *
 * Recursion with taskwait to a depth of ten thousand: children run over their parent's wait, so that depth costs stack
 * but no fibers; and nested creation without waiting, which costs neither.
 *
 * Covers: task, taskwait
 */
#include "../check.h"
#include <omp.h>

enum { kDepth = 10000 };

static long descend(int depth) {
  if (depth == 0) return 0;
  long below = 0;
#pragma omp task shared(below) firstprivate(depth)
  below = descend(depth - 1);
#pragma omp taskwait
  return below + 1;
}

static void chain(int depth, int* ends) {
  if (depth == 0) {
#pragma omp atomic
    (*ends)++;
    return;
  }
#pragma omp task firstprivate(depth, ends)
  chain(depth - 1, ends);
}

static long fib(int n) {
  if (n < 2) return n;
  long a, b;
#pragma omp task shared(a) firstprivate(n)
  a = fib(n - 1);
#pragma omp task shared(b) firstprivate(n) untied
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}

int main(void) {
  for (int round = 0; round < 3; round++) {
    long depth = 0, f = 0;
    int ends = 0;
#pragma omp parallel shared(depth, ends, f)
#pragma omp single
    {
      depth = descend(kDepth);
      for (int c = 0; c < 8; c++) chain(kDepth, &ends);
      f = fib(18);
    }
    CHECK_EQ(depth, kDepth);
    CHECK_EQ(ends, 8);
    CHECK_EQ(f, 2584);
  }
  return 0;
}
