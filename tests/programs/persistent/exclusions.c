/* SPDX-License-Identifier: Apache-2.0
 *
 * Persistent graphs of tasks that have many mutexinoutset locators, in both orders, or one of them twice: in every
 * iteration they exclude each other, and all of them run.
 *
 * Covers: marline persistent graphs, task(depend:mutexinoutset/iterator)
 */
#include "../check.h"
#include <marline/marline.h>
#include <omp.h>

enum { kMany = 40000, kFew = 8, kIterations = 4 };

static char cells[kMany]; /* named in dependences only */
static int inside, ran;

static void run(void) {
  CHECK_EQ(__atomic_exchange_n(&inside, 1, __ATOMIC_RELAXED), 0);
  ran++;
  CHECK_EQ(__atomic_exchange_n(&inside, 0, __ATOMIC_RELAXED), 1);
}

static void create(void) {
  (void)cells; /* GCC does not count a depend clause as a use */
#pragma omp task depend(iterator(i = 0 : kMany), mutexinoutset : cells[i])
  run();
#pragma omp task depend(iterator(i = 0 : kMany), mutexinoutset : cells[kMany - 1 - i])
  run();
  for (int t = 0; t < kFew; t++) {
#pragma omp task depend(mutexinoutset : cells[0], cells[kMany - 1], cells[0])
    run();
  }
}

int main(void) {
  static const int modes[] = {MARLINE_GRAPH_BARRIER, MARLINE_GRAPH_NOWAIT};
#pragma omp parallel
#pragma omp single
  for (int m = 0; m < 2; m++) {
    marline_graph_t* graph = marline_graph_begin(modes[m]);
    for (int i = 0; i < kIterations; i++) {
      if (marline_graph_iterate(graph)) create();
    }
    marline_graph_end(graph);
    CHECK_EQ(ran, (m + 1) * kIterations * (kFew + 2));
  }
  return 0;
}
