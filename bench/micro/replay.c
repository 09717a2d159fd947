/* SPDX-License-Identifier: Apache-2.0
 *
 * The wavefront of grid.h as a persistent graph: what a task costs that is replayed. One thread creates. Figures, per
 * task: `replay_barrier`, `replay_nowait`, `replay_code` (without the producer's code), wall time of the whole
 * iteration in the three modes; `replay_producer`, the time that the producer spends in its loops in the first of them
 * (on one thread: nothing else runs meanwhile, as only the first cell is ready). The iterations that record run before
 * the clock starts.
 */
#include "bench.h"

#include "grid.h"

#include <marline/marline.h>

enum { kTasks = kSide * kSide, kRecorded = 3 };

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
    marline_graph_t* graph = marline_graph_begin(mode);
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

static struct Times checked_run(const char* name, int mode, long rounds) {
  struct Times times = run(mode, rounds);
  if (!grid_is_swept(rounds + kRecorded)) bench_fail("%s: wrong result after %ld rounds", name, rounds);
  return times;
}

static int figure(const char* name, int mode, int of_producer) {
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

int main(int argc, char** argv) {
  bench_init(argc, argv);
  int done = figure("replay_barrier", MARLINE_GRAPH_BARRIER, 0);
  done += figure("replay_nowait", MARLINE_GRAPH_NOWAIT, 0);
  done += figure("replay_code", MARLINE_GRAPH_REPLAY, 0);
  done += figure("replay_producer", MARLINE_GRAPH_BARRIER, 1);
  if (!done) bench_fail("no figure is called %s", bench_options.only);
  return 0;
}
