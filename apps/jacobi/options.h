/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line. Main thread only; constant afterwards.
 */
#ifndef JACOBI_OPTIONS_H
#define JACOBI_OPTIONS_H

#include <stdbool.h>

#include "failure.h"

typedef enum { kFormCheckEach, kFormCheckEvery, kFormSpeculative, kForms } Form;

enum { kMostAhead = 63 };

typedef struct {
  Form form;
  int every; /* iterations from one test to the next */
  int ahead; /* iterations that may run before it is known whether they count */
  int rows;  /* of all ranks */
  int columns;
  int blocks; /* of each rank */
  double shift;
  double tolerance;
  int iterations; /* at most */
  int solves;
  long long seed;
  const char* given_every;
  const char* given_ahead;
  bool help;
} Options;

/* Notes mistakes; every process reads the same command line, and so notes the same. */
void options_parse(Options* options, int ranks, int argc, char** argv, Failure* failure);

/* How often each point of the plane is stored. */
int options_planes(const Options* options);

const char* options_form(const Options* options);

void options_print_usage(void);

#endif
