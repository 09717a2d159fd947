/* SPDX-License-Identifier: Apache-2.0
 *
 * The forms of dependent tasks. One thread per process creates the tasks of cycle after cycle, messages and the
 * reduction of the step among them; phases that need no step run before and beside the reduction. All forms but bsp
 * have the same tasks; bsp has only the tasks of the loops:
 *
 *   tasks         the next cycle is created as soon as it is known to take place
 *   persistent    the same, as a graph that is recorded once
 *   bsp           messages and reductions are the creating thread's own, which waits for all tasks around them
 *   speculative   the next cycle is created, and begins, before it is known to take place: speculate.h
 */
#ifndef LULESH_TASKS_H
#define LULESH_TASKS_H

#include "failure.h"
#include "forms.h"
#include "plan.h"

typedef struct {
  Simulation simulation;
  Plan* plan;
  const Entries* entries;
  int graph_mode;     /* of the form `persistent` */
  int remesh;         /* for the form `persistent`: cycles after which the mesh is cut anew; 0: never */
  bool no_room;       /* no memory for cutting the mesh anew */
  double creation_us; /* microseconds added to each creation */

  /* Filled by the forms. */
  double discovery;  /* seconds in which tasks were created */
  long long created; /* tasks */
  marline_counters_t counted;
  marline_mpi_speculation_counts_t speculation; /* of all processes */
  unsigned long long left;                      /* messages that are left after the end of speculation; must be 0 */
} TaskRun;

/* Advance until the end. Collective; main thread, outside of parallel regions. */
void tasks_run(TaskRun* run);
void persistent_run(TaskRun* run);
void bsp_run(TaskRun* run);

/* Creates the tasks of these kinds. */
void tasks_create(TaskRun* run, TaskKind first, TaskKind last);

/* The runtime's counters; zeros if it has none. */
marline_counters_t tasks_counters(const Entries* entries);
void tasks_count_since(TaskRun* run, const marline_counters_t* before);

#endif
