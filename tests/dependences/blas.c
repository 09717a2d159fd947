// SPDX-License-Identifier: Apache-2.0
// The routines of BLAS and LAPACK that apps/cholesky calls, in the forms that it calls: column by column, lower
// triangles. A library's own code is not seen by `marline check --dependences`; this is
// (tools/dependence_mutants.py).
#include <cblas.h>
#include <math.h>
#include <stddef.h>

#define AT(matrix, row, column, leading) matrix[(size_t)(column) * (size_t)(leading) + (size_t)(row)]

// b becomes alpha times b times the inverse of the transposed lower triangle of a.
void cblas_dtrsm(enum CBLAS_ORDER order, enum CBLAS_SIDE side, enum CBLAS_UPLO uplo, enum CBLAS_TRANSPOSE transpose,
                 enum CBLAS_DIAG diagonal, int rows, int columns, double alpha, const double* a, int lda, double* b,
                 int ldb) {
  (void)order, (void)side, (void)uplo, (void)transpose, (void)diagonal;
  for (int j = 0; j < columns; ++j) {
    for (int i = 0; i < rows; ++i) {
      double sum = alpha * AT(b, i, j, ldb);
      for (int k = 0; k < j; ++k) sum -= AT(b, i, k, ldb) * AT(a, j, k, lda);
      AT(b, i, j, ldb) = sum / AT(a, j, j, lda);
    }
  }
}

// c becomes beta times c plus alpha times a times b transposed.
void cblas_dgemm(enum CBLAS_ORDER order, enum CBLAS_TRANSPOSE of_a, enum CBLAS_TRANSPOSE of_b, int rows, int columns,
                 int inner, double alpha, const double* a, int lda, const double* b, int ldb, double beta, double* c,
                 int ldc) {
  (void)order, (void)of_a, (void)of_b;
  for (int j = 0; j < columns; ++j) {
    for (int i = 0; i < rows; ++i) {
      double sum = 0;
      for (int k = 0; k < inner; ++k) sum += AT(a, i, k, lda) * AT(b, j, k, ldb);
      AT(c, i, j, ldc) = beta * AT(c, i, j, ldc) + alpha * sum;
    }
  }
}

// The lower triangle of c becomes beta times itself plus alpha times that of a times a transposed.
void cblas_dsyrk(enum CBLAS_ORDER order, enum CBLAS_UPLO uplo, enum CBLAS_TRANSPOSE transpose, int rows, int inner,
                 double alpha, const double* a, int lda, double beta, double* c, int ldc) {
  (void)order, (void)uplo, (void)transpose;
  for (int j = 0; j < rows; ++j) {
    for (int i = j; i < rows; ++i) {
      double sum = 0;
      for (int k = 0; k < inner; ++k) sum += AT(a, i, k, lda) * AT(a, j, k, lda);
      AT(c, i, j, ldc) = beta * AT(c, i, j, ldc) + alpha * sum;
    }
  }
}

double cblas_dnrm2(int count, const double* x, int stride) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += x[i * stride] * x[i * stride];
  return sqrt(sum);
}

void dpotrf_(const char* uplo, const int* order, double* a, const int* leading, int* info, size_t length) {
  (void)uplo, (void)length;
  const int n = *order, lda = *leading;
  *info = 0;
  for (int j = 0; j < n; ++j) {
    for (int k = 0; k < j; ++k) {
      for (int i = j; i < n; ++i) AT(a, i, j, lda) -= AT(a, i, k, lda) * AT(a, j, k, lda);
    }
    if (AT(a, j, j, lda) <= 0) {
      *info = j + 1;
      return;
    }
    AT(a, j, j, lda) = sqrt(AT(a, j, j, lda));
    for (int i = j + 1; i < n; ++i) AT(a, i, j, lda) /= AT(a, j, j, lda);
  }
}

// OpenBLAS's own: all of the above use one thread.
void openblas_set_num_threads(int count) { (void)count; }
