/* SPDX-License-Identifier: Apache-2.0
 *
 * Usage: cluster_graphs MODE [differs]. Iterations of a persistent graph of target regions, each of which gets the
 * iteration's number; with `differs`, one of them has a region more. Prints whether the result is right. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct marline_graph marline_graph_t;
extern marline_graph_t* marline_graph_begin(int mode) __attribute__((weak));
extern int marline_graph_iterate(marline_graph_t* graph) __attribute__((weak));
extern void marline_graph_end(marline_graph_t* graph) __attribute__((weak));

enum { kCells = 16, kIterations = 40, kReplay = 2 };

static void add(long* cells, int cell, int iteration) {
#pragma omp target nowait depend(inout : cells[cell]) map(tofrom : cells[0 : kCells]) firstprivate(cell, iteration)
  cells[cell] = 2 * cells[cell] % 1000003 + iteration;
}

int main(int count, char** words) {
  int mode = atoi(words[1]), differs = count > 2;
  static long cells[kCells];
#pragma omp target enter data map(to : cells)
#pragma omp parallel
#pragma omp single
  {
    marline_graph_t* graph = marline_graph_begin(mode);
    for (int i = 0; i < kIterations; i++) {
      if (marline_graph_iterate(graph) == 0) continue;
      for (int c = 0; c < kCells; c++) {
        if (differs && i == kIterations / 2 && c == kCells / 2) add(cells, 0, 0);
        add(cells, c, i);
      }
    }
    marline_graph_end(graph);
  }
#pragma omp target exit data map(from : cells)
  int good = 1;
  for (int c = 0; c < kCells; c++) {
    long expected = 0;
    for (int i = 0; i < kIterations; i++) {
      expected = 2 * expected % 1000003 + (mode == kReplay ? 0 : i);
      if (differs && i == kIterations / 2 && c == 0) expected = 2 * expected % 1000003;
    }
    good = good && cells[c] == expected;
  }
  printf("good=%d\n", good);
  return 0;
}
