/* SPDX-License-Identifier: Apache-2.0
 *
 * One graph, discovered by one task or by two (marline_depend_share): a stencil over 1,024 cells, 16 steps of four
 * dependences per task, with almost empty bodies, so that discovery takes most of the time. In each step P producers
 * create the tasks of their part of the cells; the tasks of the next step are created when the producers have ended,
 * even if their tasks have not. Figures: `producers_1` and `producers_2`, wall time per task. The cells' values are
 * those of the serial stencil. Needs Marline. Its function is looked up by name, so that the program is built like the
 * others.
 */
#include "bench.h"

enum { kCells = 1024, kSteps = 16 };

static unsigned grid[2][kCells + 2], expected[2][kCells + 2];

static inline void update(unsigned* to, const unsigned* from) { *to = 3 * from[0] + 5 * from[-1] + 7 * from[1] + 1; }

static void produce(unsigned* from, unsigned* to, int first, int last) {
  for (int i = first; i < last; ++i) {
#pragma omp task depend(in : from[i - 1], from[i], from[i + 1]) depend(out : to[i]) firstprivate(i)
    update(&to[i], &from[i]);
  }
}

static void start(void) {
  for (int i = 0; i < kCells + 2; ++i) grid[0][i] = grid[1][i] = i;
}

static void run(long rounds, int producers) {
  void (*share)(void) = NULL;
  *(void**)&share = dlsym(RTLD_DEFAULT, "marline_depend_share");
  if (share == NULL) bench_fail("producers share dependences under Marline only");
  start();
#pragma omp parallel
#pragma omp single
  {
    share();
    for (long step = 0; step < rounds * kSteps; ++step) {
      unsigned *from = grid[step % 2], *to = grid[1 - step % 2];
      for (int p = 0; p < producers; ++p) {
#pragma omp task firstprivate(p)
        produce(from, to, 1 + kCells * p / producers, 1 + kCells * (p + 1) / producers);
      }
#pragma omp taskwait
    }
  }
}

static void run_1(long rounds) { run(rounds, 1); }
static void run_2(long rounds) { run(rounds, 2); }

static int check(long rounds) {
  for (int i = 0; i < kCells + 2; ++i) expected[0][i] = expected[1][i] = i;
  for (long step = 0; step < rounds * kSteps; ++step)
    for (int i = 1; i <= kCells; ++i) update(&expected[1 - step % 2][i], &expected[step % 2][i]);
  return !memcmp(grid, expected, sizeof grid);
}

int main(int argc, char** argv) {
  static const struct BenchFigure figures[] = {{"producers_1", "ns", kSteps * kCells, run_1, check, NULL},
                                               {"producers_2", "ns", kSteps * kCells, run_2, check, NULL}};
  return bench_main(argc, argv, figures, 2);
}
