/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line. Main thread only; constant afterwards.
 */
#ifndef HALO_OPTIONS_H
#define HALO_OPTIONS_H

#include <stdbool.h>

#include "failure.h"

typedef enum { kFormFor, kFormTasks, kFormDetach, kForms } Form;

typedef struct {
  Form form;
  int rows; /* of each rank */
  int columns;
  int blocks;
  int iterations;
  int turns; /* 0: no comparison */
  bool help;
} Options;

/* Notes mistakes; every process reads the same command line, and so notes the same. */
void options_parse(Options* options, int argc, char** argv, Failure* failure);

const char* options_form(const Options* options);

void options_print_usage(void);

#endif
