/* SPDX-License-Identifier: Apache-2.0
 *
 * The sequential work on tiles: one call of BLAS or LAPACK each, on one thread. Called from tasks, which own the
 * tiles for the duration as their `depend` clauses say. Each kernel passes the status of its operands on (see
 * matrix.h) and skips the arithmetic once it is set: the numbers no longer mean anything, the dataflow goes on.
 */
#ifndef CHOLESKY_KERNELS_H
#define CHOLESKY_KERNELS_H

#include "matrix.h"

#pragma omp declare target /* also within target regions, where any thread may be the first */

/* Makes BLAS use the calling thread only: parallelism comes from tasks. Before the first kernel;
 * may be called again. */
void kernels_use_one_thread(void);

/* a := its lower Cholesky factor, zero above the diagonal. first_row: index of a's first row in the whole matrix. */
void kernel_potrf(Tile a, int first_row);

/* a := a * inverse(transpose(diagonal)) */
void kernel_trsm(Tile diagonal, Tile a);

/* c := c - a * transpose(a), lower triangle */
void kernel_syrk(Tile a, Tile c);

/* c := c - a * transpose(b) */
void kernel_gemm(Tile a, Tile b, Tile c);

#pragma omp end declare target

/* What a tile contributes to the Frobenius norm of the symmetric matrix: a diagonal one stands for its lower triangle
 * and that one's mirror image, any other for itself and its own. Scaled: does not overflow where the result does not.
 */
double kernel_norm(Tile a, bool diagonal);

#endif
