/* SPDX-License-Identifier: Apache-2.0
 *
 * A taskloop of 10,000 iterations in tasks of one iteration, created by one thread. Figure: `taskloop`, wall time per
 * task. A runtime that counts the tasks beforehand may run them all at once (libgomp does). Each iteration marks its
 * own element, so each is known to have run, and how often.
 */
#include "bench.h"

enum { kIterations = 10000 };

static int marks[kIterations];

static void run(long rounds) {
  memset(marks, 0, sizeof marks);
#pragma omp parallel
#pragma omp single
  for (long r = 0; r < rounds; ++r) {
#pragma omp taskloop grainsize(1)
    for (int i = 0; i < kIterations; ++i) ++marks[i];
  }
}

static int check(long rounds) {
  for (int i = 0; i < kIterations; ++i)
    if (marks[i] != rounds) return 0;
  return 1;
}

int main(int argc, char** argv) {
  static const struct BenchFigure figures[] = {{"taskloop", "ns", kIterations, run, check, NULL}};
  return bench_main(argc, argv, figures, 1);
}
