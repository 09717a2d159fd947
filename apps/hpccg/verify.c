/* SPDX-License-Identifier: Apache-2.0
 *
 * See verify.h. No state.
 */
#include "verify.h"

#include <float.h>
#include <math.h>
#include <mpi.h>
#include <string.h>

static double row_sum(const Matrix* matrix, int row) {
  double sum = 0;
  for (size_t k = matrix->start[row]; k < matrix->start[row + 1]; ++k) {
    sum += matrix->value[k];
  }
  return sum;
}

Verdict verify(Solver* solver) {
  const Matrix* matrix = solver->matrix;
  double squares[2] = {0, 0}; /* of b, of b - A x */
  double largest[2] = {0, 0}; /* of |b - A x|, of |x - 1| */
  double dominance = matrix_dominance(matrix);
  memcpy(solver->p, solver->x, (size_t)matrix->rows * sizeof(double));
  halo_exchange(solver->halo, solver->p);
  for (int row = 0; row < matrix->rows; ++row) {
    double b = row_sum(matrix, row);
    double rest = b - matrix_row_times(matrix, row, solver->p);
    squares[0] += b * b;
    squares[1] += rest * rest;
    largest[0] = fmax(largest[0], fabs(rest));
    largest[1] = fmax(largest[1], fabs(solver->x[row] - 1));
  }
  MPI_Allreduce(MPI_IN_PLACE, squares, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, largest, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &dominance, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  /* Rounding of the residual itself. */
  double rounding = 100 * DBL_EPSILON * sqrt(squares[0]);
  return (Verdict){.norm_b = sqrt(squares[0]),
                   .recursive = solver->history[solver->iterations],
                   .residual = sqrt(squares[1]),
                   .error = largest[1],
                   .bound = dominance > 0 ? (largest[0] + rounding) / dominance : -1};
}

/* Written so that what is not a number fails. */
bool verify_passed(const Verdict* verdict) {
  bool same = fabs(verdict->residual - verdict->recursive) <= kResidualTolerance * verdict->norm_b;
  return same && (verdict->bound < 0 || verdict->error <= verdict->bound);
}
