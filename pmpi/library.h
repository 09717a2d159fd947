/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the MPI library of the process at run time, for the libraries of Marline that stand in front of MPI. They do
 * not link libmpi, for three reasons: they are also preloaded into processes without MPI (a launcher's shell); one
 * build serves every library of an ABI (abi.h), whatever its file name; and a second MPI library must never come into a
 * process. Any thread.
 */
#ifndef MARLINE_PMPI_LIBRARY_H
#define MARLINE_PMPI_LIBRARY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The function `name` ("PMPI_Send") of the next library in the loader's order. If no library after this one has it: the
 * function of an MPI library that was loaded with RTLD_LOCAL, as the extension modules of interpreters load theirs.
 * NULL if there is none. */
void* pmpi_function(const char* name);

/* The MPI library that pmpi_function finds, for the functions of abi.h. */
void* pmpi_handle(void);

/* A function of MPI, and what takes its place if the MPI library lacks it. Generated from mpi.h by missing.py. */
typedef struct PmpiFunction {
  const char* name; /* "PMPI_Send" */
  void (*missing)(void);
} PmpiFunction;

extern const PmpiFunction pmpi_table[];
extern const size_t pmpi_table_size;

/* Fills `functions`, one pointer per entry of pmpi_table, and what this ABI's mpi.h needs (its predefined handles). */
void pmpi_resolve(void* functions);

/* Ends the process: the program calls `name` ("MPI_Session_init"), which the MPI library does not have. */
void pmpi_missing(const char* name) __attribute__((noreturn));

/* Ends the process with this line. Provided by the library that library.c is built into. */
void pmpi_fatal(const char* line) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif

#endif
