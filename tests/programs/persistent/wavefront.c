/* SPDX-License-Identifier: Apache-2.0
 *
 * A persistent wavefront in each mode: the values equal the serial sweeps' values if and only if each task ran once per
 * iteration, in the right order, with the firstprivate data of its iteration.
 *
 * Covers: marline persistent graphs
 */
#include "../check.h"

#include <marline/marline.h>
#include <omp.h>

enum { kSide = 12, kIterations = 9 };

typedef unsigned Grid[kSide + 1][kSide + 2];

static Grid grid, expected;
static unsigned lone[kSide], lone_expected[kSide];

static unsigned updated(Grid g, int i, int j, unsigned it) {
  return 3 * g[i][j] + 5 * g[i][j - 1] + 7 * g[i - 1][j - 1] + 11 * g[i - 1][j] + 13 * g[i - 1][j + 1] + it;
}

static void sweep(unsigned it) {
  for (int i = 1; i <= kSide; ++i) {
    for (int j = 1; j <= kSide; ++j) {
#pragma omp task firstprivate(i, j, it) depend(in : grid[i][j - 1], grid[i - 1][j - 1], grid[i - 1][j]) \
    depend(in : grid[i - 1][j + 1]) depend(inout : grid[i][j])
      grid[i][j] = updated(grid, i, j, it);
    }
#pragma omp task firstprivate(i, it) /* no dependences: ordered by barriers alone */
#pragma omp atomic
    lone[i - 1] += it;
  }
}

static void serial(unsigned it, int iterations) {
  memset(expected, 0, sizeof expected);
  memset(lone_expected, 0, sizeof lone_expected);
  for (int n = 0; n < iterations; ++n) {
    unsigned data = it == 0 ? (unsigned)n + 1 : it;
    for (int i = 1; i <= kSide; ++i) {
      for (int j = 1; j <= kSide; ++j) expected[i][j] = updated(expected, i, j, data);
      lone_expected[i - 1] += data;
    }
  }
}

static void check_mode(int mode, int iterations) {
  memset(grid, 0, sizeof grid);
  memset(lone, 0, sizeof lone);
  int bodies = 0;
#pragma omp parallel
#pragma omp single
  {
    marline_graph_t* g = marline_graph_begin(mode);
    for (int n = 0; n < iterations; ++n) {
      if (!marline_graph_iterate(g)) continue;
      ++bodies;
      sweep((unsigned)n + 1);
    }
    marline_graph_end(g);
    /* After the end the producer's tasks are ordinary ones, in order with each other. */
    int after = 0;
#pragma omp task depend(out : after) shared(after)
    after = 1;
#pragma omp task depend(in : after) shared(after)
    CHECK_EQ(after, 1);
#pragma omp taskwait
  }
  serial(mode == MARLINE_GRAPH_REPLAY ? 1 : 0, iterations);
  CHECK_EQ(bodies, mode == MARLINE_GRAPH_REPLAY && iterations > 0 ? 1 : iterations);
  CHECK(!memcmp(grid, expected, sizeof grid));
  CHECK(!memcmp(lone, lone_expected, sizeof lone));
}

int main(void) {
  for (int iterations = 0; iterations <= 4; ++iterations)
    for (int mode = MARLINE_GRAPH_BARRIER; mode <= MARLINE_GRAPH_REPLAY; ++mode) check_mode(mode, iterations);
  for (int mode = MARLINE_GRAPH_BARRIER; mode <= MARLINE_GRAPH_REPLAY; ++mode) check_mode(mode, kIterations);
  return 0;
}
