/* SPDX-License-Identifier: Apache-2.0
 *
 * Reader of Matrix Market files ("The Matrix Market exchange formats", Boisvert, Pozo, Remington, NIST 1996): array and
 * coordinate, real and integer, symmetric and general, square ones only. Entries are passed one by one to the
 * application, which keeps the entries that it needs: no process needs room for the whole matrix. Used by the main
 * thread only. Errors are noted with file and line.
 */
#ifndef APPS_COMMON_MARKET_H
#define APPS_COMMON_MARKET_H

#include <stdbool.h>
#include <stdio.h>

#include "failure.h"

typedef struct {
  const char* path;
  FILE* stream;
  long long line;    /* the line being read, from 1 */
  int n;             /* order of the matrix */
  long long entries; /* lines of data that the header announces */
  bool coordinate;
  bool general;
  bool integer;
} MarketFile;

/* Opens the file and reads its header. */
void market_open(MarketFile* file, const char* path, Failure* failure);

/* Takes entry (i, j), from 0; i >= j in a file that is not `general`. May note a failure, which ends the reading. */
typedef void (*MarketEntryFn)(const MarketFile* file, int i, int j, double value, void* arg, Failure* failure);

/* Hands all entries to `take`, in the file's order. */
void market_read(MarketFile* file, MarketEntryFn take, void* arg, Failure* failure);

/* Whether the two halves of a general file agree in a value: up to a few roundings. */
bool market_same(double a, double b);

/* Also after a failed market_open. */
void market_close(MarketFile* file);

#endif
