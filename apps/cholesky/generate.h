/* SPDX-License-Identifier: Apache-2.0
 *
 * The generated matrix: each entry is a function of the seed and its place alone, so that any number of processes and
 * any tile size give the same matrix.
 */
#ifndef CHOLESKY_GENERATE_H
#define CHOLESKY_GENERATE_H

#include "matrix.h"

/* Fills the local tiles, one task each. Called by the main thread outside of parallel regions. */
void generate_matrix(Matrix* matrix, long long seed);

#endif
