/* SPDX-License-Identifier: Apache-2.0
 *
 * The dependences of a graph as lists, computed once before anything is timed, so that in no driver the evaluation of
 * the pattern is part of the runtime's cost. One row of lists per phase, since steps of equal phase have equal
 * dependences. Built by the main thread, then only read.
 */
#ifndef MARLINE_TASKBENCH_PLAN_H
#define MARLINE_TASKBENCH_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "graph.h"

struct Plan {
  const struct Graph* graph;
  int64_t* begin;  /* [phase * width + i]: where the inputs of column i start; one more entry at the end */
  int32_t* inputs; /* columns of the previous step, ascending */
  bool* read;      /* [phase * width + i]: does a step of this phase read column i of the step before it? */
  struct Cycle cycle;
  long phases; /* number of phases that the steps of this graph reach */
};

void plan_build(struct Plan* plan, const struct Graph* graph);
void plan_free(struct Plan* plan);

static inline const int32_t* plan_inputs(const struct Plan* plan, long phase, long i, long* count) {
  const int64_t* begin = plan->begin + phase * plan->graph->width + i;
  *count = begin[1] - begin[0];
  return plan->inputs + begin[0];
}

#endif
