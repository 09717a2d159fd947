/* SPDX-License-Identifier: Apache-2.0
 *
 * Conjugate gradients as a graph of dependent tasks, messages and sums over processes included, that one thread per
 * process creates; nothing waits within an iteration. The graph can also be persistent: recorded in the first iteration
 * and repeated in the others.
 */
#ifndef HPCCG_TASKS_H
#define HPCCG_TASKS_H

#include "failure.h"
#include "plan.h"

/* How to run a loop that creates the same tasks in each iteration: the modes of marline_graph_begin. */
typedef enum { kGraphBarrier = 0, kGraphNowait = 1, kGraphReplay = 2 } GraphMode;

typedef struct {
  bool persistent;
  GraphMode mode; /* if persistent */
  int lag;        /* with a tolerance: iterations that are created ahead of knowing whether to stop */
  bool cancel;    /* such iterations that have not started are dropped rather than run for nothing */
  int ahead; /* iterations that may run, not only exist, before it is known whether to stop: see speculate.h; or 0 */
} TaskForm;

typedef struct {
  long long created; /* tasks */
  double discovery;  /* seconds in which tasks were created, waiting between iterations apart */
  bool counted;      /* the runtime has counted the two that follow */
  unsigned long long edges;
  unsigned long long nodes; /* empty ones, between sets of tasks */
} TaskFigures;

/* Collective; main thread, outside of parallel regions. Not for form->ahead > 0. */
TaskFigures tasks_solve(Plan* plan, const TaskForm* form);

/* The tasks of an iteration. */
void tasks_create_iteration(Plan* plan, bool cancel);

/* The runtime's counters before, and what has been counted since then. */
marline_counters_t tasks_read_counters(const Entries* entries);
void tasks_count_since(TaskFigures* figures, const marline_counters_t* before, const Entries* entries);

/* Whether tasks may be passed on that way by what this compiler knows and this runtime has; otherwise notes why not.
 * Also fine without Marline: depend clauses, if no tile has parts or the compiler knows inoutset. */
void tasks_check(const Tiling* tiling, const TaskForm* form, bool tolerance, const Entries* entries, Failure* failure);

#endif
