/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line. Parsed by every process alike, before anything else; only read after that.
 */
#ifndef CHOLESKY_OPTIONS_H
#define CHOLESKY_OPTIONS_H

#include <stdbool.h>

#include "failure.h"

typedef struct {
  const char* file; /* NULL: generate the matrix */
  long long seed;
  int n;
  int tile;
  int grid[2]; /* rows and columns of processes; 0: choose a grid that is nearly square */
  int rounds;  /* times to factorise the generated matrix; the last one counts */
  bool target; /* kernels are target tasks of the default device */
  bool no_check;
  bool json;
  bool help;
  const char* generated; /* an option for generated matrices that was given, or NULL */
} Options;

/* On a mistake, notes what is wrong and what is allowed. */
void options_parse(Options* options, int argc, char** argv, Failure* failure);

void options_print_usage(void);

#endif
