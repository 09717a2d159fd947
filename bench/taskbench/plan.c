/* SPDX-License-Identifier: Apache-2.0
 *
 * Computes the lists of dependences of a graph.
 */
#include "plan.h"

#include <stdlib.h>

#include "fail.h"

enum { kMaxInputs = 1 << 28 }; /* 1 GiB of column numbers */

/* Step p has phase p as long as p is below the number of phases: phases count up before one is repeated. */
static int64_t count_inputs(const struct Graph* graph, long phases) {
  int64_t total = 0;
  struct IntervalSet set;
  for (long phase = 0; phase < phases; ++phase) {
    for (long i = 0; i < graph_width_at(graph, phase); ++i) {
      graph_dependences(graph, phase, i, &set);
      for (int k = 0; k < set.count; ++k) total += set.at[k].last - set.at[k].first + 1;
    }
  }
  return total;
}

static int64_t append(int32_t* inputs, int64_t at, const struct IntervalSet* set) {
  for (int k = 0; k < set->count; ++k)
    for (long j = set->at[k].first; j <= set->at[k].last; ++j) inputs[at++] = (int32_t)j;
  return at;
}

void plan_build(struct Plan* plan, const struct Graph* graph) {
  plan->graph = graph;
  plan->cycle = graph_cycle(graph);
  plan->phases = plan->cycle.from + plan->cycle.period;
  if (plan->phases > graph->steps) plan->phases = graph->steps;
  int64_t inputs = count_inputs(graph, plan->phases);
  if (inputs > kMaxInputs)
    fail("the pattern has %lld dependences before it repeats, more than 2^28: take a smaller --width",
         (long long)inputs);
  size_t tasks = (size_t)(plan->phases * graph->width);
  plan->begin = allocate((tasks + 1) * sizeof *plan->begin);
  plan->inputs = allocate((size_t)inputs * sizeof *plan->inputs);
  plan->read = allocate(tasks * sizeof *plan->read);
  int64_t at = 0;
  struct IntervalSet set;
  for (long phase = 0; phase < plan->phases; ++phase) {
    for (long i = 0; i < graph->width; ++i) {
      plan->begin[phase * graph->width + i] = at;
      if (i < graph_width_at(graph, phase)) {
        graph_dependences(graph, phase, i, &set);
        at = append(plan->inputs, at, &set);
      }
      set.count = 0;
      if (phase > 0 && i < graph_width_at(graph, phase - 1)) graph_readers(graph, phase - 1, i, &set);
      plan->read[phase * graph->width + i] = set.count > 0;
    }
  }
  plan->begin[tasks] = at;
}

void plan_free(struct Plan* plan) {
  free(plan->begin);
  free(plan->inputs);
  free(plan->read);
}
