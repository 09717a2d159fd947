/* SPDX-License-Identifier: Apache-2.0
 *
 * What a run prints, on the first rank. Main thread only.
 */
#ifndef JACOBI_REPORT_H
#define JACOBI_REPORT_H

#include "verify.h"

/* Sums over the solves. */
typedef struct {
  double seconds;
  long iterations; /* up to the results */
  double wasted;   /* that ran, and were not needed */
  unsigned long long withdrawn, drained;
} Totals;

void report_remarks(const Job* job, const Options* options);
void report_solve(int number, const Outcome* outcome, const Check* check);
void report_figures(const Options* options, const Totals* totals);

#endif
