/* SPDX-License-Identifier: Apache-2.0
 *
 * What a target region of a cluster costs the thread that creates it: an iteration has 256 regions in 64 chains, each
 * of which adds a firstprivate number to its cell. `plain`: a loop. `graph`: a persistent graph; its code runs in each
 * iteration. `replay`: a persistent graph; its code runs in the first iteration only. Time from an iteration's begin
 * until all regions are created. The previous iteration has ended completely before, and the first iterations, in which
 * nodes learn a graph, do not count. Run it with `marline run --devices cluster:N`.
 */
#include "bench.h"

#include <marline/marline.h>

enum { kChains = 64, kLinks = 4, kRegions = kChains * kLinks, kWarmUp = 8, kApart = 8 };

static long cells[kChains * kApart], expected;
static double created_ns;

static void create(long add) {
  for (int link = 0; link < kLinks; ++link) {
    for (int chain = 0; chain < kChains; ++chain) {
      long* cell = &cells[chain * kApart];
#pragma omp target nowait map(tofrom : cell[0 : 1]) depend(inout : cell[0]) firstprivate(add)
      cell[0] += add;
    }
  }
}

/* A wait in an iteration that is recorded would be a part of it. */
static void run_graph(long rounds, int mode) {
  marline_graph_t* graph = marline_graph_begin(mode);
  for (long i = 0; i < rounds + kWarmUp; ++i) {
    double begin = bench_now();
    if (marline_graph_iterate(graph)) create(mode == MARLINE_GRAPH_REPLAY ? 1 : i);
    created_ns = i < kWarmUp ? 0 : created_ns + bench_now() - begin;
    expected += (mode == MARLINE_GRAPH_REPLAY ? 1 : i) * kLinks;
    if (i < kWarmUp) continue;
#pragma omp taskwait
  }
  marline_graph_end(graph);
}

static void run_plain(long rounds) {
  created_ns = 0;
  for (long i = 0; i < rounds; ++i) {
    double begin = bench_now();
    create(i);
    created_ns += bench_now() - begin;
    expected += i * kLinks;
#pragma omp taskwait
  }
}

static void run_barrier(long rounds) { run_graph(rounds, MARLINE_GRAPH_BARRIER); }
static void run_replay(long rounds) { run_graph(rounds, MARLINE_GRAPH_REPLAY); }

static int check(long rounds) {
  (void)rounds;
#pragma omp target update from(cells)
  for (int chain = 0; chain < kChains; ++chain) {
    if (cells[chain * kApart] != expected) return 0;
  }
  return 1;
}

static double created(void) { return created_ns; }

int main(int argc, char** argv) {
  static const struct BenchFigure figures[] = {{"region_plain", "ns", kRegions, run_plain, check, created},
                                               {"region_graph", "ns", kRegions, run_barrier, check, created},
                                               {"region_replay", "ns", kRegions, run_replay, check, created}};
  int status = 0;
#pragma omp target enter data map(to : cells)
#pragma omp parallel
#pragma omp single
  status = bench_main(argc, argv, figures, 3);
#pragma omp target exit data map(from : cells)
  return status;
}
