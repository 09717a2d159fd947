/* SPDX-License-Identifier: Apache-2.0
 *
 * What the pressure must be after the last step: the serial run's, bit for bit; that of the exact solution, within what
 * rounding or the grid explains (README.md says how much that is). Main thread only.
 */
#ifndef MINIMOD_VERIFY_H
#define MINIMOD_VERIFY_H

#include "failure.h"
#include "grid.h"

/* Sums and maxima over points. Ranks add up the sums and take the largest of the maxima. */
typedef struct {
  double differing;            /* points with other bits than the serial run's */
  double error_sum, exact_sum; /* point source: squares of the errors and of the exact numbers */
  double largest_difference;   /* from the serial run */
  double largest_error;        /* standing wave: relative to its amplitude */
} Findings;

/* Makes the comparisons that the options ask for with the grid's slabs. False if memory does not suffice. */
bool verify_grid(const Grid* grid, Findings* findings);

/* The error of the start's solution, and what is allowed. */
double verify_error(const Options* options, const Findings* findings);
double verify_tolerance(const Options* options);

/* Notes options with which the comparison would say nothing. */
void verify_check_options(const Options* options, Failure* failure);

/* Notes what is wrong. */
void verify_judge(const Options* options, const Findings* findings, Failure* failure);

#endif
