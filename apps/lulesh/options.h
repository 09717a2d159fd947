/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line. Parsed by every process alike, before anything else; only read after that.
 */
#ifndef LULESH_OPTIONS_H
#define LULESH_OPTIONS_H

#include <stdbool.h>

#include "failure.h"

typedef enum { kFormSerial, kFormLoops } FormName;

typedef struct {
  int size;    /* elements along an edge of each process's cube */
  int cycles;  /* at most */
  int regions, balance, cost;
  bool prints_cycles, quiet, help;
  FormName form;
} Options;

/* On a mistake, notes what is wrong and what is allowed. */
void options_parse(Options *options, int argc, char **argv, Failure *failure);

const char *options_form(const Options *options);

void options_print_usage(void);

#endif
