/* SPDX-License-Identifier: Apache-2.0
 *
 * Conjugate gradients (Hestenes and Stiefel 1952) from x = 0: the vectors of this process, the scalars that all
 * processes share, and the arithmetic on a range of rows. One iteration is
 *
 *   direction   p = r + beta p                     beta = 0 at first
 *   product     ap = A p                           after the exchange of p's halo
 *   alpha       alpha = (r, r) / (p, ap)           a sum over all processes
 *   update      x = x + alpha p,  r = r - alpha ap
 *   beta        beta = (r, r) / (r, r) before      a sum over all processes
 *
 * A form of the program (loops.h, tasks.h) calls these steps; it owes them this order, and that no range is in two
 * calls at a time. The scalars change only in solver_alpha and solver_beta, which are collective.
 */
#ifndef HPCCG_SOLVER_H
#define HPCCG_SOLVER_H

#include "halo.h"
#include "matrix.h"

typedef enum { kSolverRuns, kSolverConverged, kSolverBroken } SolverState;

typedef struct {
  const Matrix* matrix;
  const Halo* halo;
  double* x;
  double* r;
  double* p; /* with room for the halo */
  double* ap;
  double alpha;
  double beta;
  double rr;      /* (r, r) */
  double enough;  /* (r, r) at which to stop; negative: never */
  int iterations; /* done */
  int limit;
  double* history;   /* norms of r: limit + 1 */
  SolverState state; /* written in solver_alpha and solver_beta; may be read at any time by solver_state */
} Solver;

/* Zero x, r = b = A * 1, room for `limit` iterations. tolerance: part of the norm of b at which to stop; 0: never.
 * Collective; false, on all processes, if memory does not suffice on some. Destroy in any case. */
bool solver_create(Solver* solver, const Matrix* matrix, const Halo* halo, int limit, double tolerance);
void solver_destroy(Solver* solver);

/* Of rows first .. last - 1. Iterations that were begun ahead of the decision to stop change nothing: these steps do
 * nothing once the solver no longer runs, solver_update_x once alpha is 0, since the last iteration's may come after
 * that decision. */
void solver_direction(Solver* solver, int first, int last);
void solver_product(Solver* solver, int first, int last);
void solver_update_x(Solver* solver, int first, int last);
void solver_update_r(Solver* solver, int first, int last);

/* Parts of (p, ap) and (r, r). */
double solver_dot_product(const Solver* solver, int first, int last);
double solver_dot_residual(const Solver* solver, int first, int last);

/* Two or three of the above in one pass over the rows. */
double solver_product_dot(Solver* solver, int first, int last);
double solver_update_dot(Solver* solver, int first, int last);

/* From this process' part of (p, ap); of (r, r), which ends the iteration. Collective. */
void solver_alpha(Solver* solver, double part);
void solver_beta(Solver* solver, double part);

static inline SolverState solver_state(const Solver* solver) {
  return __atomic_load_n(&solver->state, __ATOMIC_RELAXED);
}

#endif
