/* SPDX-License-Identifier: Apache-2.0
 *
 * The options of libmarline-mpi: environment variables MARLINE_MPI_*, read once. The table of options is in
 * options.cpp; tools/gen_options_doc.py makes the documentation page from it.
 */
#ifndef MARLINE_MPI_OPTIONS_H
#define MARLINE_MPI_OPTIONS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum MpiProgress {
  kProgressOpportunistic, /* a progress hook of Marline polls */
  kProgressThread,        /* a thread of this library, which does nothing else, polls */
} MpiProgress;

typedef struct MpiOptions {
  MpiProgress progress;
  bool one_owner; /* owner.h */
  bool counters;
  double watch; /* seconds; 0: no watch */
  int window;   /* messages; 0: none (run_ahead.h) */
} MpiOptions;

/* The options in force. The first call reads the environment, and reports each value that cannot be used with one
 * line; the default is then used. Any thread. */
const MpiOptions* mpi_options(void);

#ifdef __cplusplus
}
#endif

#endif
