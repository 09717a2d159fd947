/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line. Parsed by every process alike, before anything else; only read after that.
 */
#ifndef NBODY_OPTIONS_H
#define NBODY_OPTIONS_H

#include <stdbool.h>

#include "failure.h"

typedef struct {
  int bodies;
  int steps;
  int block;
  double imbalance;
  double dt;
  long long seed;
  bool verify;
  bool labels;
  bool help;
} Options;

/* On a mistake, notes what is wrong and what is allowed. */
void options_parse(Options* options, int argc, char** argv, Failure* failure);

void options_print_usage(void);

#endif
