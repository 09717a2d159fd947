/* SPDX-License-Identifier: Apache-2.0
 *
 * The wavefront of wavefront.c as a persistent graph: what a task costs that is replayed. One thread creates. Figures,
 * per task: `replay_barrier`, `replay_nowait`, `replay_code` (without the producer's code), wall time of the whole
 * iteration in the three modes; `replay_producer`, the time that the producer spends in its loops in the first of them
 * (on one thread: nothing else runs meanwhile, as only the first cell is ready). The iterations that record come before
 * the clock starts. The cells' values are those of the serial sweeps if and only if every order was right.
 */
#include "bench.h"

#include <marline/marline.h>

enum { kSide = 64, kTasks = kSide * kSide, kRecorded = 3 };

typedef unsigned Grid[kSide + 1][kSide + 2];

static Grid grid, expected;

static inline void update(unsigned *cell, unsigned w, unsigned nw, unsigned n, unsigned ne) {
  *cell = 3 * *cell + 5 * w + 7 * nw + 11 * n + 13 * ne + 1;
}

static void sweep(void) {
  for (int i = 1; i <= kSide; ++i)
    for (int j = 1; j <= kSide; ++j) {
#pragma omp task firstprivate(i, j) depend(in : grid[i][j - 1], grid[i - 1][j - 1], grid[i - 1][j]) \
    depend(in : grid[i - 1][j + 1]) depend(inout : grid[i][j])
      update(&grid[i][j], grid[i][j - 1], grid[i - 1][j - 1], grid[i - 1][j], grid[i - 1][j + 1]);
    }
}

struct Times {
  double whole, producer; /* of all rounds together */
};

static struct Times run(int mode, long rounds) {
  struct Times times = {0, 0};
  memset(grid, 0, sizeof grid);
#pragma omp parallel
#pragma omp single
  {
    double start = 0;
    marline_graph_t *graph = marline_graph_begin(mode);
    for (long r = 0; r < rounds + kRecorded; ++r) {
      int body = marline_graph_iterate(graph);
      if (r == kRecorded) start = bench_now();
      if (!body) continue;
      double before = bench_now();
      sweep();
      if (r >= kRecorded) times.producer += bench_now() - before;
    }
    marline_graph_end(graph);
    times.whole = bench_now() - start;
  }
  return times;
}

static int check(long rounds) {
  memset(expected, 0, sizeof expected);
  for (long r = 0; r < rounds + kRecorded; ++r)
    for (int i = 1; i <= kSide; ++i)
      for (int j = 1; j <= kSide; ++j)
        update(&expected[i][j], expected[i][j - 1], expected[i - 1][j - 1], expected[i - 1][j], expected[i - 1][j + 1]);
  return !memcmp(grid, expected, sizeof grid);
}

static struct Times checked_run(const char *name, int mode, long rounds) {
  struct Times times = run(mode, rounds);
  if (!check(rounds)) bench_fail("%s: wrong result after %ld rounds", name, rounds);
  return times;
}

static int figure(const char *name, int mode, int of_producer) {
  if (bench_options.only && strcmp(bench_options.only, name)) return 0;
  if (bench_options.rounds) {
    checked_run(name, mode, bench_options.rounds);
    printf("# operations %ld\n", bench_options.rounds * kTasks);
    return 1;
  }
  long rounds = 1;
  while (checked_run(name, mode, rounds).whole < 0.7 * bench_options.sample_ns) rounds *= 2;
  double samples[kBenchSamples];
  for (int i = 0; i < kBenchSamples; ++i) {
    struct Times times = checked_run(name, mode, rounds);
    samples[i] = (of_producer ? times.producer : times.whole) / ((double)rounds * kTasks);
  }
  bench_say(name, bench_median(samples, kBenchSamples), "ns");
  return 1;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  int done = figure("replay_barrier", MARLINE_GRAPH_BARRIER, 0);
  done += figure("replay_nowait", MARLINE_GRAPH_NOWAIT, 0);
  done += figure("replay_code", MARLINE_GRAPH_REPLAY, 0);
  done += figure("replay_producer", MARLINE_GRAPH_BARRIER, 1);
  if (!done) bench_fail("no figure is called %s", bench_options.only);
  return 0;
}
