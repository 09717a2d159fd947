/* SPDX-License-Identifier: Apache-2.0
 *
 * Many persistent graphs, each recorded, repeated and freed; one of many iterations; and one of many tasks. Memory does
 * not grow with the number of graphs or of iterations, and comes back from the large one. Usage: graphs GRAPHS
 *
 * Covers: marline persistent graphs, task(depend:in/inout, firstprivate)
 */
#include "../resident.h"
#include <marline/marline.h>
#include <omp.h>

enum { kGrowthKiB = 8192, kCells = 2 };

static long cells[kCells], sum;

static void steps(long i) {
  for (int c = 0; c < kCells; c++) {
#pragma omp task depend(inout : cells[c]) firstprivate(i, c)
    cells[c] += i + c;
  }
#pragma omp task depend(in : cells[0], cells[kCells - 1])
  sum += cells[0] + cells[kCells - 1]; /* tasks of one graph: in order with the next iteration's by inout */
}

/* In every mode, `graphs` graphs of `iterations` each: what the cells hold tells how often each task ran. */
static void run(int mode, long graphs, long iterations) {
  memset(cells, 0, sizeof cells);
  for (long g = 0; g < graphs; g++) {
    marline_graph_t* graph = marline_graph_begin(mode);
    for (long i = 0; i < iterations; i++) {
      if (marline_graph_iterate(graph)) steps(1);
    }
    marline_graph_end(graph);
  }
  for (int c = 0; c < kCells; c++) CHECK_EQ(cells[c], graphs * iterations * (1 + c));
}

static void constant_memory(long graphs) {
#pragma omp parallel
#pragma omp single
  for (int mode = MARLINE_GRAPH_BARRIER; mode <= MARLINE_GRAPH_REPLAY; mode++) {
    run(mode, graphs / 10, 2);
    run(mode, 1, graphs / 10);
    long before = resident_kib();
    run(mode, graphs, 2);
    expect_growth_below(before, kGrowthKiB);
    run(mode, 1, graphs);
    expect_growth_below(before, kGrowthKiB);
  }
}

/* A task for each element, twice as many edges. */
static void large(long tasks, char* element, int* value) {
#pragma omp parallel
#pragma omp single
  {
    marline_graph_t* graph = marline_graph_begin(MARLINE_GRAPH_REPLAY);
    for (int iteration = 0; iteration < 3; iteration++) {
      if (!marline_graph_iterate(graph)) continue;
      for (long t = 0; t < tasks; t++) {
#pragma omp task depend(inout : element[t]) depend(in : element[t / 2]) firstprivate(t)
        value[t]++;
      }
    }
    marline_graph_end(graph);
  }
  for (long t = 0; t < tasks; t++) CHECK_EQ(value[t], 3);
}

int main(int argc, char** argv) {
  CHECK_EQ(argc, 2);
  long graphs = atol(argv[1]);
  constant_memory(graphs);
  long before = resident_kib();
  char* element = calloc((size_t)graphs, 1);
  int* value = calloc((size_t)graphs, sizeof *value);
  CHECK(element != NULL && value != NULL);
  large(graphs, element, value);
  free(element);
  free(value);
  expect_back(before, 128 * 1024, "after a large graph");
  return 0;
}
