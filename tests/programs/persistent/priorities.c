/* SPDX-License-Identifier: Apache-2.0
 *
 * Priorities in a persistent graph: in every iteration, recorded or replayed, the chain that ends with a task that
 * matters runs first (MARLINE_PRIORITY=SA, one thread). Usage: priorities MODE, of marline_graph_begin.
 *
 * Covers: marline persistent graphs, marline priorities
 */
#include "../check.h"
#include <marline/marline.h>

enum { kChains = 8, kSteps = 4, kUrgent = 2, kIterations = 6 };

static char input[1], data[kChains];
static int finished[kChains], count;

static void iterate(void) {
#pragma omp task depend(out : input[0])
  count = 0;
  for (int chain = 0; chain < kChains; chain++) {
    for (int step = 0; step < kSteps; step++) {
#pragma omp task depend(in : input[0]) depend(inout : data[chain])
      data[chain]++;
    }
    int matters = chain == kUrgent;
#pragma omp task depend(in : data[chain]) priority(matters) firstprivate(chain)
    finished[count++] = chain;
  }
#pragma omp taskwait
}

int main(int argc, char** argv) {
  CHECK_EQ(argc, 2);
#pragma omp parallel num_threads(1)
  {
    marline_graph_t* graph = marline_graph_begin(atoi(argv[1]));
    for (int i = 0; i < kIterations; i++) {
      if (marline_graph_iterate(graph)) iterate();
#pragma omp taskwait
      CHECK_EQ(count, kChains);
      CHECK_EQ(finished[0], kUrgent);
    }
    marline_graph_end(graph);
  }
  return 0;
}
