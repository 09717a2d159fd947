/* SPDX-License-Identifier: Apache-2.0
 *
 * From a Matrix Market file to this process' rows. Every process reads the whole file and keeps its own rows, so no
 * process ever holds the whole matrix. Conjugate gradients need a symmetric matrix: a file that is declared general
 * must be symmetric in fact. Used by the main thread only.
 */
#ifndef HPCCG_MARKET_MATRIX_H
#define HPCCG_MARKET_MATRIX_H

#include "market.h"
#include "matrix.h"

/* Rows of the file for this process: as even as possible, the first ranks take what remains. */
int market_rows(const MarketFile* file, int ranks, int rank);

/* With column numbers of the whole matrix. After a failure the matrix is to be destroyed. */
void market_fill(MarketFile* file, Matrix* matrix, const Rows* rows, Failure* failure);

#endif
