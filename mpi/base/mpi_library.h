/* SPDX-License-Identifier: Apache-2.0
 *
 * The MPI library behind libmarline-mpi: its functions, found at run time. Nothing here is linked against libmpi, for
 * three reasons: this library is also preloaded into processes without MPI (a launcher's shell); RTLD_NEXT allows a
 * PMPI tool in front of it; and in a program of the other MPI implementation, a missing symbol would end the process in
 * the dynamic linker, before this library can say why. For the same reasons it uses no data symbol of MPI (Open MPI's
 * MPI_COMM_WORLD and MPI_REQUEST_NULL are some).
 *
 * `next_mpi` is written by library_resolve(), before the first use, and once more in MPI_Init if one owner is to make
 * all calls (owner.h); otherwise only read, by any thread.
 */
#ifndef MARLINE_MPI_LIBRARY_H
#define MARLINE_MPI_LIBRARY_H

#include <stdbool.h>

/* The one place that includes mpi.h: everything else in this library is hidden, the MPI interface is not. */
#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop

#include "base/tool_behind.h"
#include "mpi_next.h"

extern NextMpi next_mpi;               /* what this library calls: of a tool behind it, if there is one, else of MPI */
extern NextMpi mpi_itself;             /* of MPI itself, through inside_functions; written by library_resolve() only */
extern NextMpi mpi_functions;          /* the library's own functions; likewise */
extern const NextMpi inside_functions; /* call these and say so to Marline (inside.h); generated */

/* Fills both; the first call decides, later ones return at once. Until then next_mpi leads to functions that call it
 * first (generate.py). Ends the process with one line if there is no MPI
 * library, if it is not the implementation that this build is for, or if it lacks a function. Thread-safe. */
void library_resolve(void);

/* MPI_PACKED and so on, which are data symbols in Open MPI: looked up at each call. */
MPI_Datatype library_packed(void);
MPI_Comm library_comm_world(void);
MPI_Comm library_comm_self(void);
MPI_Comm library_comm_null(void);
MPI_Request library_request_null(void);

/* True for the message that MPI_Mprobe gives for MPI_PROC_NULL; only asked where MPI_Imrecv forgets its status. */
static inline bool is_from_nobody(MPI_Message message) {
#if MARLINE_MPI_IS_OPENMPI
  (void)message;
  return false;
#else
  return message == MPI_MESSAGE_NO_PROC; /* MPICH 4.0: as with MPI_Irecv, see MPI_PROC_NULL in calls.def */
#endif
}

#endif
