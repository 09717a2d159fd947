/* SPDX-License-Identifier: Apache-2.0
 *
 * Residual and norms, by tasks; see verify.h.
 */
#include "verify.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

__attribute__((noinline)) static void task_copy(Tile to, Tile from) {
#pragma omp task untied default(none) firstprivate(to, from) depend(out : to.data[0]) depend(in : from.data[0])
  memcpy(to.data, from.data, (size_t)tile_message_count(from) * sizeof(double));
}

__attribute__((noinline)) static void task_subtract(Tile a, Tile b, Tile c, bool diagonal) {
#pragma omp task untied default(none) firstprivate(a, b, c, diagonal) depend(in : a.data[0], b.data[0]) \
    depend(inout : c.data[0])
  if (diagonal) {
    kernel_syrk(a, c);
  } else {
    kernel_gemm(a, b, c);
  }
}

/* *norm is this task's alone: the sum over tiles is made afterwards, in one order whatever the schedule. */
__attribute__((noinline)) static void task_norm(Tile a, bool diagonal, double* norm) {
#pragma omp task untied default(none) firstprivate(a, diagonal, norm) depend(in : a.data[0])
  *norm = kernel_norm(a, diagonal);
}

/* The root of the sum of squares over all processes, scaled by the largest so that nothing overflows on the way. */
static double combine_norms(double mine) {
  double largest;
  MPI_Allreduce(&mine, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  double square = largest > 0 ? (mine / largest) * (mine / largest) : mine;
  MPI_Allreduce(MPI_IN_PLACE, &square, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return largest > 0 ? largest * sqrt(square) : square;
}

static void create_norm_tasks(const Matrix* a, double* norms) {
  const Layout* layout = &a->layout;
  for (int k = layout_next(0, layout->grid_cols, layout->my_col); k < layout->tiles; k += layout->grid_cols) {
    for (int m = layout_next(k, layout->grid_rows, layout->my_row); m < layout->tiles; m += layout->grid_rows) {
      task_norm(matrix_tile(a, m, k), m == k, norms++);
    }
  }
}

/* Frobenius norm of the symmetric matrix that has its lower triangle in a. */
static double matrix_norm(const Matrix* a, double* norms) {
#pragma omp parallel default(none) shared(a, norms)
#pragma omp single
  create_norm_tasks(a, norms);
  double mine = 0;
  for (size_t t = 0; t < a->count; ++t) {
    mine = hypot(mine, norms[t]);
  }
  return combine_norms(mine);
}

bool verify_create(Verification* verification, const Layout* layout) {
  *verification = (Verification){0};
  if (!matrix_create(&verification->a, layout)) {
    return false;
  }
  verification->norms = malloc((verification->a.count + 1) * sizeof *verification->norms);
  if (!verification->norms) {
    matrix_destroy(&verification->a);
    return false;
  }
  return true;
}

void verify_destroy(Verification* verification) {
  free(verification->norms);
  matrix_destroy(&verification->a);
}

static void create_copy_tasks(const Matrix* to, const Matrix* from) {
  const Layout* layout = &from->layout;
  for (int k = layout_next(0, layout->grid_cols, layout->my_col); k < layout->tiles; k += layout->grid_cols) {
    for (int m = layout_next(k, layout->grid_rows, layout->my_row); m < layout->tiles; m += layout->grid_rows) {
      task_copy(matrix_tile(to, m, k), matrix_tile(from, m, k));
    }
  }
}

void verify_keep(Verification* verification, const Matrix* a) {
#pragma omp parallel default(none) shared(verification, a)
#pragma omp single
  create_copy_tasks(&verification->a, a);
  verification->norm_a = matrix_norm(a, verification->norms);
}

/* Step k: everything that column k of L contributes. */
static void create_subtract_tasks(const Matrix* a, const Matrix* l, const Panel* panel, int k) {
  const Layout* layout = &a->layout;
  for (int m = k; m < layout->tiles; ++m) {
    panel_share(panel, l, m, k);
  }
  for (int j = layout_next(k, layout->grid_cols, layout->my_col); j < layout->tiles; j += layout->grid_cols) {
    for (int i = layout_next(j, layout->grid_rows, layout->my_row); i < layout->tiles; i += layout->grid_rows) {
      task_subtract(panel_tile(panel, l, i, k), panel_tile(panel, l, j, k), matrix_tile(a, i, j), i == j);
    }
  }
}

double verify_residual(Verification* verification, const Matrix* l, const Panel* panel) {
#pragma omp parallel default(none) shared(verification, l, panel)
#pragma omp single
  for (int k = 0; k < l->layout.tiles; ++k) {
    create_subtract_tasks(&verification->a, l, panel, k);
  }
  double norm = matrix_norm(&verification->a, verification->norms);
  return norm == 0 ? 0 : norm / verification->norm_a;
}
