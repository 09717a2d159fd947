/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line. Parsed by every process alike, before anything else; only read after that.
 */
#ifndef HPCCG_OPTIONS_H
#define HPCCG_OPTIONS_H

#include "failure.h"
#include "plan.h"
#include "stencil.h"
#include "tasks.h"

typedef enum { kFormSequential, kFormFor, kFormTasks, kFormPersistent } Form;

typedef struct {
  const char* file; /* NULL: the 27-point problem */
  Box box;
  Form form;
  Tiling tiling;
  TaskForm tasks;
  int iterations;
  double tolerance;       /* 0: none */
  const char* history;    /* file to write; NULL: none */
  const char* size_given; /* NULL: it was not */
  bool help;
} Options;

/* On a mistake, notes what is wrong and what is allowed. */
void options_parse(Options* options, int argc, char** argv, Failure* failure);

/* The word that selects it. */
const char* options_form(const Options* options);
const char* options_naming(const Options* options);

void options_print_usage(void);

#endif
