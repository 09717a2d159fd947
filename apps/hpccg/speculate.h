/* SPDX-License-Identifier: Apache-2.0
 *
 * Conjugate gradients in which no iteration waits for the verdict. The verdict is whether the largest element of r is
 * small enough: a maximum over all processes, which no iteration needs for itself, so it is computed beside the next
 * iterations. When it says that iteration K was the last, later ones are under way on all processes, each somewhere
 * else; marline_mpi_speculation_stop ends them. The result is x of iteration K, whatever ran too much.
 *
 * x goes on changing, so each iteration keeps a copy of it until its verdict is known. There are `ahead` copies:
 * iteration k + ahead makes its copy where k's is, so it waits for the verdict on k; with it, sooner or later, all that
 * follows.
 */
#ifndef HPCCG_SPECULATE_H
#define HPCCG_SPECULATE_H

#include "failure.h"
#include "tasks.h"

/* What the processes did in vain, in sum over all. */
typedef struct {
  unsigned long long sent;
  unsigned long long received;
  unsigned long long withdrawn; /* receives */
  unsigned long long drained;   /* messages */
  unsigned long long refused;   /* calls after the stop */
  unsigned long long completed; /* collectives, per process that had not entered one */
  int leftovers;                /* messages that are there after the end: 0 */
} SpeculationFigures;

/* The form `tasks` with form->ahead > 0, to a largest element of r that is `tolerance` times the first. The solver has
 * no tolerance of its own. False, on all processes, if memory does not suffice on some. Collective; main thread,
 * outside of parallel regions. */
bool speculate_solve(Plan* plan, const TaskForm* form, double tolerance, TaskFigures* figures,
                     SpeculationFigures* speculation);

/* Notes why not, if this runtime or these options do not serve. */
void speculate_check(const Tiling* tiling, const TaskForm* form, bool tolerance, const Entries* entries,
                     Failure* failure);

/* Notes a failure if what was sent was not all received or drained, or something is left. */
void speculate_judge(const SpeculationFigures* figures, Failure* failure);

#endif
