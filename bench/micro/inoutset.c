/* SPDX-License-Identifier: Apache-2.0
 *
 * A concurrent set of writers before a set of readers: 100 tasks `inoutset` on one address, then 100 tasks `in` on it,
 * round after round. Without a node between the sets the graph has 100 x 100 edges per change of set. Figures, wall
 * time per task: `inoutset`, where each task works for 10 us (on p threads never less than 10/p us); `inoutset_empty`,
 * with empty tasks. Dependences alone order the sets: each task checks, by a counter of the other set, that this set
 * has ended. Needs OpenMP 5.1.
 */
#include "bench.h"

#include <stdatomic.h>

enum { kSet = 100, kBodyNs = 10000 };

static char set_address;
static atomic_long written, read_back, misplaced;

static int body_ns;

static void work(void) {
  if (!body_ns) return;
  double end = bench_now() + body_ns;
  while (bench_now() < end) continue;
}

static void write_task(long round) {
  if (atomic_load(&read_back) != round * kSet) atomic_fetch_add(&misplaced, 1);
  work();
  atomic_fetch_add(&written, 1);
}

static void read_task(long round) {
  if (atomic_load(&written) != (round + 1) * kSet) atomic_fetch_add(&misplaced, 1);
  work();
  atomic_fetch_add(&read_back, 1);
}

static void create_sets(long round) {
  for (int i = 0; i < kSet; ++i) {
#pragma omp task firstprivate(round) depend(inoutset : set_address)
    write_task(round);
  }
  for (int i = 0; i < kSet; ++i) {
#pragma omp task firstprivate(round) depend(in : set_address)
    read_task(round);
  }
}

static void run(long rounds) {
  atomic_store(&written, 0);
  atomic_store(&read_back, 0);
  atomic_store(&misplaced, 0);
#pragma omp parallel
#pragma omp single
  for (long round = 0; round < rounds; ++round) create_sets(round);
}

static void run_working(long rounds) {
  body_ns = kBodyNs;
  run(rounds);
}

static void run_empty(long rounds) {
  body_ns = 0;
  run(rounds);
}

static int check(long rounds) {
  long tasks = rounds * kSet;
  return atomic_load(&written) == tasks && atomic_load(&read_back) == tasks && !atomic_load(&misplaced);
}

int main(int argc, char** argv) {
  static const struct BenchFigure figures[] = {{"inoutset", "ns", 2 * kSet, run_working, check, NULL},
                                               {"inoutset_empty", "ns", 2 * kSet, run_empty, check, NULL}};
  return bench_main(argc, argv, figures, 2);
}
