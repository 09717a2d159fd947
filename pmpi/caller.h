/* SPDX-License-Identifier: Apache-2.0
 *
 * Decides which kind of code makes an MPI call. MPI's own libraries use MPI too (ROMIO's collective writes, Open MPI's
 * components), while they hold locks: such calls go straight through. A library with global state (HDF5 and libraries
 * on top of it) must not be entered by a second task while a first one is inside: its calls block. All other code
 * counts as user code, also the Fortran wrappers of MPI (libmpi_mpifh, libmpichfort), which only translate.
 *
 * The shared object that contains the return address decides. A small table remembers the answer per call site, so that
 * all calls but the first cost one load. Any thread. Built into libmarline-mpi and into the recorder, which must not
 * take MPI's own calls for the program's either. If the recorder calls libmarline-mpi, the recorder's caller decides.
 */
#ifndef MARLINE_PMPI_CALLER_H
#define MARLINE_PMPI_CALLER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum Caller {
  kCallerUser,
  kCallerNeverSuspends, /* a library with global state: the call blocks, but is made as for user code */
  kCallerMpi,           /* the MPI library itself: leave the call as it is */
  kCallerRecorder,      /* a recorder, which passes a call on; caller_of never returns this */
} Caller;

/* Which kind of code is at `return_address`. */
Caller caller_of(const void* return_address);

/* The first entry of MARLINE_MPI_NEVER_SUSPEND that cannot be the beginning of a file name (a path, for example),
 * and its length; NULL if there is none. */
const char* caller_option_fault(size_t* length);

/* An address inside the MPI library. Provided by the library that caller.c is built into. */
const void* library_address(void);

#ifdef __cplusplus
}
#endif

#endif
