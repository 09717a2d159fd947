/* SPDX-License-Identifier: Apache-2.0
 *
 * See solver.h. Sums over a range are made in an order that depends on the range alone, so that a form which fixes its
 * ranges and the order in which it adds them up has one result, whatever the schedule.
 */
#include "solver.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static double* vector(int rows) {
  size_t bytes = ((size_t)rows * sizeof(double) + 63) / 64 * 64;
  return aligned_alloc(64, bytes > 0 ? bytes : 64);
}

static double sum_over_processes(double part) {
  double sum = 0;
  MPI_Allreduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

/* r = A * 1; by the team's threads, which thereby touch the vectors first. */
static void start_vectors(Solver* solver) {
  const Matrix* matrix = solver->matrix;
#pragma omp parallel for default(none) shared(solver, matrix) schedule(static)
  for (int row = 0; row < matrix->rows; ++row) {
    double sum = 0;
    for (size_t k = matrix->start[row]; k < matrix->start[row + 1]; ++k) {
      sum += matrix->value[k];
    }
    solver->x[row] = 0;
    solver->r[row] = sum;
    solver->p[row] = 0;
    solver->ap[row] = 0;
  }
  memset(solver->p + matrix->rows, 0, (size_t)matrix->halo * sizeof(double));
}

bool solver_create(Solver* solver, const Matrix* matrix, const Halo* halo, int limit, double tolerance) {
  int rows = matrix->rows;
  *solver = (Solver){.matrix = matrix, .halo = halo, .limit = limit};
  solver->x = vector(rows);
  solver->r = vector(rows);
  solver->p = vector(rows + matrix->halo);
  solver->ap = vector(rows);
  solver->history = malloc(((size_t)limit + 1) * sizeof *solver->history);
  int room = solver->x && solver->r && solver->p && solver->ap && solver->history;
  MPI_Allreduce(MPI_IN_PLACE, &room, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (!room) {
    return false;
  }
  start_vectors(solver);
  solver->rr = sum_over_processes(solver_dot_residual(solver, 0, rows));
  solver->history[0] = sqrt(solver->rr);
  solver->enough = tolerance > 0 ? tolerance * tolerance * solver->rr : -1;
  return true;
}

void solver_destroy(Solver* solver) {
  free(solver->x);
  free(solver->r);
  free(solver->p);
  free(solver->ap);
  free(solver->history);
  *solver = (Solver){0};
}

void solver_direction(Solver* solver, int first, int last) {
  const double* restrict r = solver->r;
  double* restrict p = solver->p;
  double beta = solver->beta;
  if (solver_state(solver) != kSolverRuns) {
    return;
  }
#pragma omp simd
  for (int i = first; i < last; ++i) {
    p[i] = r[i] + beta * p[i];
  }
}

void solver_product(Solver* solver, int first, int last) {
  if (solver_state(solver) != kSolverRuns) {
    return;
  }
  for (int i = first; i < last; ++i) {
    solver->ap[i] = matrix_row_times(solver->matrix, i, solver->p);
  }
}

double solver_product_dot(Solver* solver, int first, int last) {
  double sum = 0;
  if (solver_state(solver) != kSolverRuns) {
    return 0;
  }
  for (int i = first; i < last; ++i) {
    double product = matrix_row_times(solver->matrix, i, solver->p);
    solver->ap[i] = product;
    sum += solver->p[i] * product;
  }
  return sum;
}

double solver_dot_product(const Solver* solver, int first, int last) {
  const double* p = solver->p;
  const double* ap = solver->ap;
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int i = first; i < last; ++i) {
    sum += p[i] * ap[i];
  }
  return sum;
}

double solver_dot_residual(const Solver* solver, int first, int last) {
  const double* r = solver->r;
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int i = first; i < last; ++i) {
    sum += r[i] * r[i];
  }
  return sum;
}

void solver_update_x(Solver* solver, int first, int last) {
  const double* restrict p = solver->p;
  double* restrict x = solver->x;
  double alpha = solver->alpha;
  if (alpha == 0) {
    return;
  }
#pragma omp simd
  for (int i = first; i < last; ++i) {
    x[i] += alpha * p[i];
  }
}

void solver_update_r(Solver* solver, int first, int last) {
  const double* restrict ap = solver->ap;
  double* restrict r = solver->r;
  double alpha = solver->alpha;
  if (solver_state(solver) != kSolverRuns) {
    return;
  }
#pragma omp simd
  for (int i = first; i < last; ++i) {
    r[i] -= alpha * ap[i];
  }
}

double solver_update_dot(Solver* solver, int first, int last) {
  const double* restrict p = solver->p;
  const double* restrict ap = solver->ap;
  double* restrict x = solver->x;
  double* restrict r = solver->r;
  double alpha = solver->alpha;
  double sum = 0;
  if (solver_state(solver) != kSolverRuns) {
    return 0;
  }
#pragma omp simd reduction(+ : sum)
  for (int i = first; i < last; ++i) {
    x[i] += alpha * p[i];
    r[i] -= alpha * ap[i];
    sum += r[i] * r[i];
  }
  return sum;
}

static void set_state(Solver* solver, SolverState state) { __atomic_store_n(&solver->state, state, __ATOMIC_RELAXED); }

void solver_alpha(Solver* solver, double part) {
  if (solver_state(solver) != kSolverRuns) {
    solver->alpha = 0;
    return;
  }
  double pap = sum_over_processes(part);
  if (solver->rr == 0) {
    solver->alpha = 0; /* x is exact */
  } else if (pap > 0) {
    solver->alpha = solver->rr / pap;
  } else { /* or not a number */
    solver->alpha = 0;
    set_state(solver, kSolverBroken);
  }
}

/* All processes decide alike: a sum over all of them is the same everywhere. */
void solver_beta(Solver* solver, double part) {
  if (solver_state(solver) != kSolverRuns) {
    return;
  }
  double rr = sum_over_processes(part);
  solver->beta = solver->rr > 0 ? rr / solver->rr : 0;
  solver->rr = rr;
  solver->history[++solver->iterations] = sqrt(rr);
  if (rr <= solver->enough) {
    set_state(solver, kSolverConverged);
  }
}
