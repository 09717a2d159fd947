/* SPDX-License-Identifier: Apache-2.0
 *
 * What a run prints on standard output: `key value` lines, or one JSON object with the same keys. Rank 0, main thread.
 */
#ifndef CHOLESKY_REPORT_H
#define CHOLESKY_REPORT_H

#include <stdbool.h>

#include "layout.h"

typedef struct {
  const Layout* layout;
  const char* file; /* NULL: generated from seed */
  long long seed;
  int ranks;
  int threads;
  double seconds;
  bool checked;
  double norm; /* of A, if checked; its residual, and the tolerance that it is held against */
  double residual;
  double tolerance;
  bool passed;
} Report;

void report_print(const Report* report, bool json);

#endif
