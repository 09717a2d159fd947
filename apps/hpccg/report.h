/* SPDX-License-Identifier: Apache-2.0
 *
 * What a run prints on standard output: remarks, `# KEY VALUE`, and figures, `NAME VALUE UNIT`. Rank 0, main thread.
 * Figures are printed only once the result has been found right.
 */
#ifndef HPCCG_REPORT_H
#define HPCCG_REPORT_H

#include "failure.h"
#include "job.h"
#include "options.h"
#include "speculate.h"
#include "verify.h"

typedef struct {
  const Job* job;
  const Options* options;
  const Solver* solver;
  const Plan* plan; /* NULL: no tasks */
  TaskFigures tasks;
  SpeculationFigures speculation;
  long long order; /* of the whole matrix */
  long long nonzeros;
  double seconds;
  Verdict verdict;
} Report;

void report_remarks(const Report* report);
void report_figures(const Report* report);

/* The norms of the residual, one line `ITERATION NORM` each, from iteration 0. Rank 0. */
void report_history(const char* path, const Solver* solver, Failure* failure);

#endif
