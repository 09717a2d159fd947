/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of OpenBLAS; see kernels.h. No state but OpenBLAS' own thread count, which the main thread sets before the
 * tasks, and each target region in its process.
 */
#include "kernels.h"

#include <cblas.h>
#include <math.h>
#include <stddef.h>

/* LAPACK's symbol in gfortran's calling convention: the length of each character argument comes last, by value. */
extern void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info, size_t uplo_length);

void kernels_use_one_thread(void) { openblas_set_num_threads(1); }

/* The order of a's first leading minor that is not positive, or 0. LAPACK's own answer misses a diagonal entry that
 * overflowed, which potrf meets as infinity or NaN. */
static int find_bad_minor(Tile a, int info) {
  if (info > 0) {
    return info;
  }
  for (int j = 0; j < a.cols; ++j) {
    if (!isfinite(a.data[(size_t)j * (size_t)a.rows + j])) {
      return j + 1;
    }
  }
  return 0;
}

void kernel_potrf(Tile a, int first_row) {
  if (*tile_status(a) != 0) {
    return;
  }
  int info = 0;
  dpotrf_("L", &a.rows, a.data, &a.rows, &info, 1);
  int minor = find_bad_minor(a, info);
  if (minor > 0) {
    *tile_status(a) = (double)first_row + minor;
    return;
  }
  for (int j = 1; j < a.cols; ++j) {
    for (int i = 0; i < j; ++i) {
      a.data[(size_t)j * (size_t)a.rows + i] = 0;
    }
  }
}

/* Carries the operand's status to the result; true if the arithmetic is to be skipped. */
static bool pass_status(Tile operand, Tile result) {
  double* status = tile_status(result);
  if (*status == 0) {
    *status = *tile_status(operand);
  }
  return *status != 0;
}

void kernel_trsm(Tile diagonal, Tile a) {
  if (!pass_status(diagonal, a)) {
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, a.rows, a.cols, 1, diagonal.data,
                diagonal.rows, a.data, a.rows);
  }
}

void kernel_syrk(Tile a, Tile c) {
  if (!pass_status(a, c)) {
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, c.rows, a.cols, -1, a.data, a.rows, 1, c.data, c.rows);
  }
}

void kernel_gemm(Tile a, Tile b, Tile c) {
  if (!pass_status(a, c) && !pass_status(b, c)) {
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, c.rows, c.cols, a.cols, -1, a.data, a.rows, b.data, b.rows, 1,
                c.data, c.rows);
  }
}

double kernel_norm(Tile a, bool diagonal) {
  if (!diagonal) {
    return M_SQRT2 * cblas_dnrm2(a.rows * a.cols, a.data, 1);
  }
  double norm = 0;
  for (int j = 0; j < a.cols; ++j) {
    const double* entry = a.data + (size_t)j * (size_t)a.rows + j;
    norm = hypot(norm, *entry);
    norm = hypot(norm, M_SQRT2 * cblas_dnrm2(a.rows - j - 1, entry + 1, 1));
  }
  return norm;
}
