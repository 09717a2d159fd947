/* SPDX-License-Identifier: Apache-2.0
 *
 * A tiled Cholesky factorisation from one producer: each tile is mapped once, each step is a deferred region that
 * depends on its tiles. The product of the factors is the matrix again.
 *
 * Covers: target(nowait, depend, map:to, map:tofrom), target enter data(map:to), target exit data(map:from)
 */
#include "../device.h"

#include <math.h>
#include <stdlib.h>

enum { kTiles = 6, kSide = 24, kRows = kTiles * kSide, kElements = kSide * kSide };

static double* g_tiles[kTiles][kTiles];
static double g_matrix[kRows][kRows];

#pragma omp declare target
static void factorise(double* a) {
  for (int k = 0; k < kSide; k++) {
    for (int j = 0; j < k; j++) a[k * kSide + k] -= a[k * kSide + j] * a[k * kSide + j];
    a[k * kSide + k] = sqrt(a[k * kSide + k]);
    for (int i = k + 1; i < kSide; i++) {
      for (int j = 0; j < k; j++) a[i * kSide + k] -= a[i * kSide + j] * a[k * kSide + j];
      a[i * kSide + k] /= a[k * kSide + k];
    }
  }
}

/* b becomes b times the inverse of the transposed lower triangle of a. */
static void solve(const double* a, double* b) {
  for (int i = 0; i < kSide; i++)
    for (int k = 0; k < kSide; k++) {
      for (int j = 0; j < k; j++) b[i * kSide + k] -= b[i * kSide + j] * a[k * kSide + j];
      b[i * kSide + k] /= a[k * kSide + k];
    }
}

static void subtract_product(const double* a, const double* b, double* c) {
  for (int i = 0; i < kSide; i++)
    for (int j = 0; j < kSide; j++)
      for (int k = 0; k < kSide; k++) c[i * kSide + j] -= a[i * kSide + k] * b[j * kSide + k];
}
#pragma omp end declare target

static void create_column(int k) {
  double* d = g_tiles[k][k];
#pragma omp target nowait depend(inout : d[0]) map(tofrom : d[0 : kElements])
  factorise(d);
  for (int i = k + 1; i < kTiles; i++) {
    double* b = g_tiles[i][k];
#pragma omp target nowait depend(in : d[0]) depend(inout : b[0]) map(to : d[0 : kElements]) \
    map(tofrom : b[0 : kElements])
    solve(d, b);
  }
  for (int i = k + 1; i < kTiles; i++)
    for (int j = k + 1; j <= i; j++) {
      double *a = g_tiles[i][k], *b = g_tiles[j][k], *c = g_tiles[i][j];
#pragma omp target nowait depend(in : a[0], b[0]) depend(inout : c[0]) map(to : a[0 : kElements], b[0 : kElements]) \
    map(tofrom : c[0 : kElements])
      subtract_product(a, b, c);
    }
}

static double element(int row, int column) {
  return column > row ? 0 : g_tiles[row / kSide][column / kSide][row % kSide * kSide + column % kSide];
}

int main(void) {
  for (int i = 0; i < kRows; i++)
    for (int j = 0; j <= i; j++) g_matrix[i][j] = g_matrix[j][i] = i == j ? kRows : 1.0 / (1 + i - j);
  for (int i = 0; i < kTiles; i++)
    for (int j = 0; j <= i; j++) {
      double* a = g_tiles[i][j] = malloc(kElements * sizeof *a);
      for (int e = 0; e < kElements; e++) a[e] = g_matrix[i * kSide + e / kSide][j * kSide + e % kSide];
#pragma omp target enter data map(to : a[0 : kElements])
    }
#pragma omp parallel
#pragma omp single
  for (int k = 0; k < kTiles; k++) create_column(k);
  for (int i = 0; i < kTiles; i++)
    for (int j = 0; j <= i; j++) {
      double* a = g_tiles[i][j];
      (void)a; /* GCC does not count its use in a map */
#pragma omp target exit data map(from : a[0 : kElements])
    }
  for (int i = 0; i < kRows; i++)
    for (int j = 0; j <= i; j++) {
      double sum = 0;
      for (int k = 0; k <= j; k++) sum += element(i, k) * element(j, k);
      CHECK_NEAR(sum, g_matrix[i][j], 1e-9);
    }
  return 0;
}
