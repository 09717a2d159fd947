/* SPDX-License-Identifier: Apache-2.0
 *
 * Conjugate gradients by loops over all rows, one after the other: the sequential form, and `parallel for`. MPI is
 * called by the main thread alone.
 */
#ifndef HPCCG_LOOPS_H
#define HPCCG_LOOPS_H

#include "solver.h"

/* separate: one loop per operation; else the product and its dot, and the two updates and theirs, share one. */
void loops_solve(Solver* solver, bool parallel, bool separate);

#endif
