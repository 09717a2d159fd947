/* SPDX-License-Identifier: Apache-2.0
 *
 * The MPI library that libmarline-mpi calls: its functions, found at run time (pmpi/library.h), so that a PMPI tool may
 * stand between this library and MPI, and so that a program of another ABI gets a line that says so, not the dynamic
 * linker's complaint about a symbol. Handles such as MPI_COMM_WORLD are valid after library_resolve().
 *
 * `next_mpi` is written by library_resolve(), before the first use, and once more in MPI_Init if one owner is to make
 * all calls (owner.h); apart from that, threads only read it.
 */
#ifndef MARLINE_MPI_LIBRARY_H
#define MARLINE_MPI_LIBRARY_H

#include <stdbool.h>

/* The mpi.h of pmpi/abi. Everything else in this library is hidden, the MPI interface is not. */
#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop

#include "base/later_tool.h"
#include "mpi_next.h"

/* Hidden: so each is read at a known distance, not through an address in the global offset table. */
#pragma GCC visibility push(hidden)
/* What this library calls: functions of a tool between it and MPI, if there is one, else of MPI. */
extern NextMpi next_mpi;
extern NextMpi mpi_itself;    /* functions of MPI itself, through inside_functions; written by library_resolve() only */
extern NextMpi mpi_functions; /* the MPI library's own functions; written by library_resolve() only */
/* Call mpi_functions between marline_library_enter and leave (inside.h); generated. */
extern const NextMpi inside_functions;
/* Every pointer in next_mpi leads to inside_functions: there is no tool and no owner. Written with next_mpi, before
 * MPI_Init returns; read by any thread that calls MPI, so after that. */
extern bool next_mpi_is_itself;
#pragma GCC visibility pop

/* Fills next_mpi, mpi_itself and mpi_functions. The first call does that, later calls return at once. Before the
 * first call, next_mpi leads to functions that call library_resolve() first (generate.py). Ends the process with one
 * line if there is no MPI library, if it has not the ABI that this build is for, or if it lacks a function that
 * everything needs. Thread-safe. */
void library_resolve(void);

/* Numbers for predefined datatypes and operations that are the same on all ranks. */
int number_of_type(MPI_Datatype type);
int number_of_op(MPI_Op op);
MPI_Datatype type_of_number(int number);
MPI_Op op_of_number(int number);

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
