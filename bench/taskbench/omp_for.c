/* SPDX-License-Identifier: Apache-2.0
 *
 * OpenMP worksharing, bulk synchronous: the columns of a step are a loop with a static schedule, and the barrier at its
 * end stands for all dependences. No task of a step starts before the last task of the previous step has ended.
 */
#include "omp.h"

static void execute(struct Bench* bench) {
  const struct Graph* graph = &bench->options.graph;
#pragma omp parallel
  for (long t = 0; t < graph->steps; ++t) {
    long width = graph_width_at(graph, t);
#pragma omp for schedule(static)
    for (long i = 0; i < width; ++i) bench_run_task(bench, t, i);
  }
}

static void start(struct Bench* bench) {
  omp_print_runtime();
  bench->workers = omp_get_max_threads();
}

static void finish(struct Bench* bench) { (void)bench; }

int main(int argc, char** argv) {
  const struct Driver driver = {"omp_for", start, execute, finish, NULL, NULL};
  return taskbench_main(argc, argv, &driver);
}
