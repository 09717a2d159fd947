/* SPDX-License-Identifier: Apache-2.0
 *
 * The check: the relative residual norm(A - L * transpose(L)) / norm(A), in the Frobenius norm, computed where the
 * tiles are, by tasks and with the same exchange of tiles as the factorisation. It costs a second copy of the matrix.
 *
 * All functions are called by the main thread outside of parallel regions.
 */
#ifndef CHOLESKY_VERIFY_H
#define CHOLESKY_VERIFY_H

#include "matrix.h"
#include "panel.h"

typedef struct {
  Matrix a;      /* the copy of A, from which L * transpose(L) is subtracted */
  double* norms; /* one per local tile */
  double norm_a;
} Verification;

/* False, with nothing allocated, if memory does not suffice. */
bool verify_create(Verification* verification, const Layout* layout);
void verify_destroy(Verification* verification);

/* Keeps a copy of A and its norm. Collective. */
void verify_keep(Verification* verification, const Matrix* a);

/* The relative residual, the same on all processes; 0 if A is zero and so is the product. Collective; uses the
 * copy up. */
double verify_residual(Verification* verification, const Matrix* l, const Panel* panel);

#endif
