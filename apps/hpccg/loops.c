/* SPDX-License-Identifier: Apache-2.0
 *
 * See loops.h. The threads' shares are the same in every loop, so each finds its rows in its own cache, and on its own
 * memory node. A share is a range, as in the other forms.
 */
#include "loops.h"

#include <omp.h>

/* The rows of a thread are cut into so many chunks, each one iteration of the worksharing loop. A `parallel for` over
 * single rows would keep the compiler from using the vectorised ranges of solver.c, and be the slower reference. */
static int chunks(bool parallel) { return parallel ? omp_get_max_threads() : 1; }

static int chunk_first(const Solver* solver, int chunk, int count) {
  return (int)((long long)solver->matrix->rows * chunk / count);
}

typedef void (*Range)(Solver* solver, int first, int last);
typedef double (*Sum)(Solver* solver, int first, int last);

static void loop(Solver* solver, bool parallel, Range range) {
  int count = chunks(parallel);
#pragma omp parallel for default(none) shared(solver, count) firstprivate(range) schedule(static) if (parallel)
  for (int chunk = 0; chunk < count; ++chunk) {
    range(solver, chunk_first(solver, chunk, count), chunk_first(solver, chunk + 1, count));
  }
}

static double loop_sum(Solver* solver, bool parallel, Sum range) {
  int count = chunks(parallel);
  double sum = 0;
#pragma omp parallel for default(none) shared(solver, count) firstprivate(range) schedule(static) \
    reduction(+ : sum) if (parallel)
  for (int chunk = 0; chunk < count; ++chunk) {
    sum += range(solver, chunk_first(solver, chunk, count), chunk_first(solver, chunk + 1, count));
  }
  return sum;
}

static double dot_product(Solver* solver, int first, int last) { return solver_dot_product(solver, first, last); }

static double dot_residual(Solver* solver, int first, int last) { return solver_dot_residual(solver, first, last); }

static double product(Solver* solver, bool parallel, bool separate) {
  if (!separate) {
    return loop_sum(solver, parallel, solver_product_dot);
  }
  loop(solver, parallel, solver_product);
  return loop_sum(solver, parallel, dot_product);
}

static double update(Solver* solver, bool parallel, bool separate) {
  if (!separate) {
    return loop_sum(solver, parallel, solver_update_dot);
  }
  loop(solver, parallel, solver_update_x);
  loop(solver, parallel, solver_update_r);
  return loop_sum(solver, parallel, dot_residual);
}

void loops_solve(Solver* solver, bool parallel, bool separate) {
  while (solver->iterations < solver->limit && solver_state(solver) == kSolverRuns) {
    loop(solver, parallel, solver_direction);
    halo_exchange(solver->halo, solver->p);
    solver_alpha(solver, product(solver, parallel, separate));
    solver_beta(solver, update(solver, parallel, separate));
  }
}
