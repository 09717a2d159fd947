/* SPDX-License-Identifier: Apache-2.0
 *
 * From a Matrix Market file to tiles. Every process reads the whole file and keeps the entries of its own tiles, so no
 * process ever holds the whole matrix. A general matrix must be symmetric in fact. Used by the main thread only.
 */
#ifndef CHOLESKY_MATRIX_MARKET_H
#define CHOLESKY_MATRIX_MARKET_H

#include "market.h"
#include "matrix.h"

/* Fills the local tiles. After a failure their content is undefined. */
void matrix_read(MarketFile* file, Matrix* matrix, Failure* failure);

#endif
