/* SPDX-License-Identifier: Apache-2.0
 *
 * The MPI library that libmarline-mpi calls: its functions, found at run time. Nothing here is linked against libmpi,
 * for three reasons: this library is also preloaded into processes without MPI (a launcher's shell); RTLD_NEXT allows a
 * PMPI tool in front of MPI; and in a program of the other MPI implementation, the dynamic linker would end the process
 * because of a missing symbol before this library can report the reason. For the same reasons it uses no data symbol of
 * MPI (Open MPI's MPI_COMM_WORLD and MPI_REQUEST_NULL are such symbols).
 *
 * `next_mpi` is written by library_resolve(), before the first use, and once more in MPI_Init if one owner is to make
 * all calls (owner.h); apart from that, threads only read it.
 */
#ifndef MARLINE_MPI_LIBRARY_H
#define MARLINE_MPI_LIBRARY_H

#include <stdbool.h>

/* The one place that includes mpi.h: everything else in this library is hidden, the MPI interface is not. */
#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop

#include "base/later_tool.h"
#include "mpi_next.h"

/* What this library calls: functions of a tool between it and MPI, if there is one, else of MPI. */
extern NextMpi next_mpi;
extern NextMpi mpi_itself;    /* functions of MPI itself, through inside_functions; written by library_resolve() only */
extern NextMpi mpi_functions; /* the MPI library's own functions; written by library_resolve() only */
/* Call mpi_functions between marline_library_enter and leave (inside.h); generated. */
extern const NextMpi inside_functions;

/* Fills next_mpi, mpi_itself and mpi_functions. The first call does that, later calls return at once. Before the
 * first call, next_mpi leads to functions that call library_resolve() first (generate.py). Ends the process with one
 * line if there is no MPI library, if it is not the implementation that this build is for, or if it lacks a
 * function. Thread-safe. */
void library_resolve(void);

/* MPI_PACKED and so on, which are data symbols in Open MPI: looked up at each call. */
MPI_Datatype library_packed(void);
MPI_Comm library_comm_world(void);
MPI_Comm library_comm_self(void);
MPI_Comm library_comm_null(void);
MPI_Request library_request_null(void);

/* True for the message that MPI_Mprobe gives for MPI_PROC_NULL. Needed only if MPI_Imrecv does not set its status. */
static inline bool is_from_nobody(MPI_Message message) {
#if MARLINE_MPI_IS_OPENMPI
  (void)message;
  return false;
#else
  return message == MPI_MESSAGE_NO_PROC; /* MPICH 4.0: as with MPI_Irecv, see MPI_PROC_NULL in calls.def */
#endif
}

#endif
