/* SPDX-License-Identifier: Apache-2.0
 *
 * Reader of Matrix Market files ("The Matrix Market exchange formats", Boisvert, Pozo, Remington, NIST 1996): array and
 * coordinate, real and integer, symmetric and general. A general matrix must be symmetric in fact. Every process
 * reads the whole file and keeps the entries of its own tiles, so no process ever holds the whole matrix. Used by the
 * main thread only. Errors are noted with file and line.
 */
#ifndef CHOLESKY_MATRIX_MARKET_H
#define CHOLESKY_MATRIX_MARKET_H

#include <stdbool.h>
#include <stdio.h>

#include "failure.h"
#include "matrix.h"

typedef struct {
  const char *path;
  FILE *stream;
  long long line;    /* where reading stands, from 1 */
  int n;             /* order of the matrix */
  long long entries; /* lines of data that the header announces */
  bool coordinate;
  bool general;
  bool integer;
} MarketFile;

/* Opens the file and reads its header. */
void market_open(MarketFile *file, const char *path, Failure *failure);

/* Fills the local tiles. After a failure their content is undefined. */
void market_read(MarketFile *file, Matrix *matrix, Failure *failure);

/* Also after a failed market_open. */
void market_close(MarketFile *file);

#endif
