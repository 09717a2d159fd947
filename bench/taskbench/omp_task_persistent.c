/* SPDX-License-Identifier: Apache-2.0
 *
 * OpenMP tasks as a persistent graph of Marline's (marline.h): as omp_task.c, but the steps between the first ones and
 * the last are iterations of one graph, each has as many steps as it takes until rows and pattern repeat, and enough
 * tasks to be worth an iteration of the graph. The other steps are ordinary tasks.
 */
#include <marline/marline.h>

#include "create_task.h"
#include "omp.h"

enum { kTasksPerIteration = 512 }; /* at least */

static void create_steps(struct Bench* bench, long from, long to) {
  const struct Graph* graph = &bench->options.graph;
  for (long t = from; t < to; ++t)
    for (long i = 0; i < graph_width_at(graph, t); ++i) create_task(bench, t, i);
}

/* Steps after which the graph's shape and the cells in use are the same again. */
static long steps_per_iteration(const struct Bench* bench) {
  const struct Graph* graph = &bench->options.graph;
  long period = graph_cycle(graph).period, steps = period;
  while (steps % bench->options.slots != 0) steps += period;
  long repeated = steps;
  while (repeated * graph->width < kTasksPerIteration) repeated += steps;
  return repeated;
}

static void execute(struct Bench* bench) {
  const struct Graph* graph = &bench->options.graph;
  long period = steps_per_iteration(bench), t = graph_cycle(graph).from + 1;
  if (t > graph->steps) t = graph->steps;
#pragma omp parallel
#pragma omp single
  {
    create_steps(bench, 0, t);
    /* The last step has outputs that are not read, so it declares other dependences. */
    MARLINE_GRAPH_FOR(, t + period < graph->steps, t += period, MARLINE_GRAPH_NOWAIT)
    create_steps(bench, t, t + period);
    create_steps(bench, t, graph->steps);
  }
}

static void start(struct Bench* bench) {
  omp_print_runtime();
  bench->workers = omp_get_max_threads();
}

static void finish(struct Bench* bench) { (void)bench; }

int main(int argc, char** argv) {
  const struct Driver driver = {"omp_task_persistent", start, execute, finish, NULL, NULL};
  return taskbench_main(argc, argv, &driver);
}
