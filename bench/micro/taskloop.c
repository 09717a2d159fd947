/* SPDX-License-Identifier: Apache-2.0
 *
 * A taskloop of 10,000 iterations in tasks of one iteration, created by one thread. Figure `taskloop`: wall time per
 * task. A runtime that counts the tasks beforehand may run them all at once (libgomp does). Each iteration marks its
 * own element, so each is known to have run, and how often. Figure `taskloop_us`: the same with iterations that take
 * about a microsecond, a chain of multiplications; wall time per task of the team.
 */
#include "bench.h"

#include <stdint.h>

enum { kIterations = 10000, kLinks = 1000 };

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

static void work(int i) {
  uint64_t x = (uint64_t)i;
  for (int link = 0; link < kLinks; ++link) {
    x = x * 6364136223846793005u + 1442695040888963407u; /* Knuth, MMIX */
    __asm__ volatile("" : "+r"(x));
  }
  ++marks[i];
}

static void run_long(long rounds) {
  memset(marks, 0, sizeof marks);
#pragma omp parallel
#pragma omp single
  for (long r = 0; r < rounds; ++r) {
#pragma omp taskloop grainsize(1)
    for (int i = 0; i < kIterations; ++i) work(i);
  }
}

static int check(long rounds) {
  for (int i = 0; i < kIterations; ++i)
    if (marks[i] != rounds) return 0;
  return 1;
}

int main(int argc, char** argv) {
  static const struct BenchFigure figures[] = {{"taskloop", "ns", kIterations, run, check, NULL},
                                               {"taskloop_us", "ns", kIterations, run_long, check, NULL}};
  return bench_main(argc, argv, figures, 2);
}
