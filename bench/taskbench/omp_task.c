/* SPDX-License-Identifier: Apache-2.0
 *
 * OpenMP tasks: one thread creates all of them, step by step, and the runtime finds the graph from their dependences
 * (create_task.h says which).
 */
#include "create_task.h"
#include "omp.h"

static void execute(struct Bench* bench) {
  const struct Graph* graph = &bench->options.graph;
#pragma omp parallel
#pragma omp single
  for (long t = 0; t < graph->steps; ++t)
    for (long i = 0; i < graph_width_at(graph, t); ++i) create_task(bench, t, i);
}

static void start(struct Bench* bench) {
  omp_print_runtime();
  bench->workers = omp_get_max_threads();
}

static void finish(struct Bench* bench) { (void)bench; }

int main(int argc, char** argv) {
  const struct Driver driver = {"omp_task", start, execute, finish, NULL, NULL};
  return taskbench_main(argc, argv, &driver);
}
