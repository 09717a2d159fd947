/* SPDX-License-Identifier: Apache-2.0
 *
 * How a run judges its own result. Collective; main thread, outside of parallel regions, after the solver's end.
 */
#ifndef HPCCG_VERIFY_H
#define HPCCG_VERIFY_H

#include "solver.h"

typedef struct {
  double norm_b;    /* of the right-hand side; Euclidean, as the other norms */
  double recursive; /* of r, as the iterations left it */
  double residual;  /* of b - A x, computed anew */
  double error;     /* largest distance of an element of x from 1, the exact solution */
  double bound;     /* what error cannot exceed, from the residual and the matrix; negative: unknown */
} Verdict;

/* Part of the norm of b by which the two residuals may differ. Rounding makes them drift apart by a multiple of n eps
 * per iteration at worst (Greenbaum 1997); an element that is wrong in a single step shows more. */
static const double kResidualTolerance = 1e-10;

/* Uses p up. */
Verdict verify(Solver* solver);

bool verify_passed(const Verdict* verdict);

#endif
