/* SPDX-License-Identifier: Apache-2.0
 *
 * The options of libmarline-mpi: environment variables MARLINE_MPI_*, read once. THE table is in options.c;
 * tools/gen_options_doc.py makes the page of it.
 */
#ifndef MARLINE_MPI_OPTIONS_H
#define MARLINE_MPI_OPTIONS_H

#include <stdbool.h>

typedef enum MpiProgress {
  kProgressOpportunistic, /* a progress hook of Marline's */
  kProgressThread,        /* a thread of this library's own, that does nothing else */
} MpiProgress;

typedef struct MpiOptions {
  MpiProgress progress;
  bool one_owner; /* owner.h */
  bool counters;
  double watch; /* seconds; 0: nobody watches */
  int window;   /* messages; 0: none (run_ahead.h) */
} MpiOptions;

/* What is in force: the first call reads the environment, and reports values that cannot be used, one line each, of
 * which the default then takes the place. Any thread. */
const MpiOptions* mpi_options(void);

#endif
