/* SPDX-License-Identifier: Apache-2.0
 *
 * Storage and numbering; see matrix.h.
 */
#include "matrix.h"

#include <float.h>
#include <math.h>
#include <mpi.h>
#include <stdlib.h>

bool rows_create(Rows* rows, int count) {
  MPI_Comm_size(MPI_COMM_WORLD, &rows->ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rows->rank);
  rows->first = malloc(((size_t)rows->ranks + 1) * sizeof *rows->first);
  int room = rows->first != NULL;
  MPI_Allreduce(MPI_IN_PLACE, &room, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (!room) {
    return false;
  }
  long long mine = count;
  rows->first[0] = 0;
  MPI_Allgather(&mine, 1, MPI_LONG_LONG, rows->first + 1, 1, MPI_LONG_LONG, MPI_COMM_WORLD);
  for (int rank = 0; rank < rows->ranks; ++rank) {
    rows->first[rank + 1] += rows->first[rank];
  }
  return true;
}

void rows_destroy(Rows* rows) {
  free(rows->first);
  rows->first = NULL;
}

int rows_owner(const Rows* rows, long long row) {
  int low = 0;
  int high = rows->ranks - 1;
  while (low < high) {
    int middle = (low + high + 1) / 2;
    if (rows->first[middle] <= row) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

bool matrix_create(Matrix* matrix, int rows, size_t nonzeros) {
  *matrix = (Matrix){.rows = rows};
  matrix->start = malloc(((size_t)rows + 1) * sizeof *matrix->start);
  matrix->column = malloc((nonzeros + 1) * sizeof *matrix->column);
  matrix->value = malloc((nonzeros + 1) * sizeof *matrix->value);
  return matrix->start && matrix->column && matrix->value;
}

void matrix_destroy(Matrix* matrix) {
  free(matrix->start);
  free(matrix->column);
  free(matrix->value);
  free(matrix->halo_rows);
  *matrix = (Matrix){0};
}

static int compare_ints(const void* a, const void* b) {
  int left = *(const int*)a;
  int right = *(const int*)b;
  return (left > right) - (left < right);
}

/* The numbers, each once, ascending; returns how many. */
static int sort_unique(int* numbers, size_t count) {
  qsort(numbers, count, sizeof *numbers, compare_ints);
  size_t kept = 0;
  for (size_t k = 0; k < count; ++k) {
    if (kept == 0 || numbers[kept - 1] != numbers[k]) {
      numbers[kept++] = numbers[k];
    }
  }
  return (int)kept;
}

static int place_of(const Matrix* matrix, int first, int column) {
  if (column >= first && column < first + matrix->rows) {
    return column - first;
  }
  const int* found = bsearch(&column, matrix->halo_rows, (size_t)matrix->halo, sizeof column, compare_ints);
  return matrix->rows + (int)(found - matrix->halo_rows);
}

bool matrix_localise(Matrix* matrix, const Rows* rows) {
  int first = (int)rows->first[rows->rank];
  size_t nonzeros = matrix->start[matrix->rows];
  size_t foreign = 0;
  for (size_t k = 0; k < nonzeros; ++k) {
    foreign += matrix->column[k] < first || matrix->column[k] >= first + matrix->rows;
  }
  matrix->halo_rows = malloc((foreign + 1) * sizeof *matrix->halo_rows);
  if (!matrix->halo_rows) {
    return false;
  }
  size_t count = 0;
  for (size_t k = 0; k < nonzeros; ++k) {
    if (matrix->column[k] < first || matrix->column[k] >= first + matrix->rows) {
      matrix->halo_rows[count++] = matrix->column[k];
    }
  }
  matrix->halo = sort_unique(matrix->halo_rows, count);
  for (size_t k = 0; k < nonzeros; ++k) {
    matrix->column[k] = place_of(matrix, first, matrix->column[k]);
  }
  return true;
}

double matrix_dominance(const Matrix* matrix) {
  double least = DBL_MAX;
  for (int row = 0; row < matrix->rows; ++row) {
    double margin = 0;
    for (size_t k = matrix->start[row]; k < matrix->start[row + 1]; ++k) {
      margin += matrix->column[k] == row ? matrix->value[k] : -fabs(matrix->value[k]);
    }
    least = fmin(least, margin);
  }
  return least;
}
