/* SPDX-License-Identifier: Apache-2.0
 *
 * OpenMP tasks: one thread creates all of them, step by step, with `in` for each input and `out` for the output; the
 * runtime finds the graph. `out` on a cell also orders a task behind the readers of the cell's former output, step
 * t - slots: in the patterns where a column reads its neighbours these are its predecessors anyway. A task that nobody
 * reads writes no cell and declares no `out`; one that has no input either declares nothing.
 */
#include "omp.h"

static void create_task(struct Bench *bench, long t, long i) {
  long count;
  const int32_t *inputs = bench_inputs(bench, t, i, &count);
  size_t cell = bench->cell_bytes;
  char *out = bench_cell(bench, t, i), *in = count ? bench_row(bench, t - 1) : out;
  if (bench_is_read(bench, t, i)) {
#pragma omp task firstprivate(bench, t, i) depend(iterator(long k = 0 : count), in : in[(size_t)inputs[k] * cell]) depend(out : *out)
    bench_run_task(bench, t, i);
  } else if (count) {
#pragma omp task firstprivate(bench, t, i) depend(iterator(long k = 0 : count), in : in[(size_t)inputs[k] * cell])
    bench_run_task(bench, t, i);
  } else {
#pragma omp task firstprivate(bench, t, i)
    bench_run_task(bench, t, i);
  }
}

static void execute(struct Bench *bench) {
  const struct Graph *graph = &bench->options.graph;
#pragma omp parallel
#pragma omp single
  for (long t = 0; t < graph->steps; ++t)
    for (long i = 0; i < graph_width_at(graph, t); ++i) create_task(bench, t, i);
}

static void start(struct Bench *bench) {
  omp_print_runtime();
  bench->workers = omp_get_max_threads();
}

static void finish(struct Bench *bench) { (void)bench; }

int main(int argc, char **argv) {
  const struct Driver driver = {"omp_task", start, execute, finish, NULL};
  return taskbench_main(argc, argv, &driver);
}
