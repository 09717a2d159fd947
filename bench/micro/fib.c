/* SPDX-License-Identifier: Apache-2.0
 *
 * Recursion with a task for each call and no cut-off: fib(20), two tasks and a taskwait per inner call. Figure: `fib`,
 * wall time per task. A task's result is on the stack of its parent, which waits for it.
 */
#include "bench.h"

enum { kArgument = 20, kValue = 6765, kTasks = 21890 };

static long fib(int n) {
  if (n < 2) return n;
  long a, b;
#pragma omp task shared(a) firstprivate(n)
  a = fib(n - 1);
#pragma omp task shared(b) firstprivate(n)
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}

static long sum;

static void run(long rounds) {
  sum = 0;
#pragma omp parallel
#pragma omp single
  for (long i = 0; i < rounds; ++i) sum += fib(kArgument);
}

static int check(long rounds) { return sum == rounds * kValue; }

int main(int argc, char** argv) {
  static const struct BenchFigure figures[] = {{"fib", "ns", kTasks, run, check, NULL}};
  return bench_main(argc, argv, figures, 1);
}
