/* SPDX-License-Identifier: Apache-2.0
 *
 * This process' rows of a sparse matrix, by rows (CSR), and where rows live: each process has one contiguous block of
 * them, in the order of the ranks. A vector that the matrix is multiplied with has the process' own elements first, and
 * then the halo: the elements of other processes that its rows refer to, in ascending order.
 *
 * Filled by the main thread (stencil.h, market_matrix.h), with column numbers of the whole matrix; matrix_localise
 * turns them into places of such a vector. Only read after that.
 */
#ifndef HPCCG_MATRIX_H
#define HPCCG_MATRIX_H

#include <stdbool.h>
#include <stddef.h>

/* Which process has which rows. */
typedef struct {
  int ranks;
  int rank;
  long long* first; /* of each rank; the last element is the order of the matrix */
} Rows;

typedef struct {
  int rows;      /* of this process */
  int halo;      /* elements of others that they refer to */
  size_t* start; /* rows + 1 */
  int* column;   /* places in a vector, after matrix_localise */
  double* value;
  int* halo_rows; /* their numbers in the whole matrix, ascending */
} Matrix;

/* False if memory does not suffice. `count` is the number of rows of this process; collective. */
bool rows_create(Rows* rows, int count);
void rows_destroy(Rows* rows);
int rows_owner(const Rows* rows, long long row);

/* Room for so many rows and nonzeros; false if memory does not suffice. */
bool matrix_create(Matrix* matrix, int rows, size_t nonzeros);
void matrix_destroy(Matrix* matrix);

/* From numbers in the whole matrix to places. False if memory does not suffice. */
bool matrix_localise(Matrix* matrix, const Rows* rows);

/* The least by which a row's diagonal entry exceeds the sum of the others' absolute values. If it is positive, the
 * inverse's maximum norm is at most its reciprocal (Ahlberg and Nilson 1963; Varah 1975). This process' rows. */
double matrix_dominance(const Matrix* matrix);

/* One element of the product. */
static inline double matrix_row_times(const Matrix* matrix, int row, const double* x) {
  const int* column = matrix->column;
  const double* value = matrix->value;
  double sum = 0;
  for (size_t k = matrix->start[row]; k < matrix->start[row + 1]; ++k) {
    sum += value[k] * x[column[k]];
  }
  return sum;
}

#endif
