/* SPDX-License-Identifier: Apache-2.0
 *
 * Who calls? MPI's own libraries use MPI too (ROMIO's collective writes, Open MPI's components), inside locks and
 * states of theirs: such calls go straight through. A library with global state (HDF5 and what builds on it) must not
 * be entered by a second task while the first is in the middle of it: its calls block. Everybody else is the user, also
 * the Fortran wrappers of MPI (libmpi_mpifh, libmpichfort), which merely translate.
 *
 * Decided by the shared object that holds the return address; a small table remembers the answer per call site, so that
 * all but the first call cost one load. Any thread. Built into libmarline-mpi and into the recorder, which must not
 * take MPI's own calls for the program's either; where the recorder calls libmarline-mpi, its own caller is asked for.
 */
#ifndef MARLINE_PMPI_CALLER_H
#define MARLINE_PMPI_CALLER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum Caller {
  kCallerUser,
  kCallerNeverSuspends, /* a library with global state: block, but as everybody else does it */
  kCallerMpi,           /* the MPI library itself: leave the call as it is */
  kCallerRecorder,      /* libmarline-trace, passing on somebody's call; never an answer of caller_of */
} Caller;

/* Whose code is at `return_address`. */
Caller caller_of(const void *return_address);

/* The first entry of MARLINE_MPI_NEVER_SUSPEND that no file's name can begin with (a path, say), and its length; NULL if
 * there is none. */
const char *caller_option_fault(size_t *length);

/* An address inside the MPI library. Provided by the library that caller.c is built into. */
const void *library_address(void);

#ifdef __cplusplus
}
#endif

#endif
