/* SPDX-License-Identifier: Apache-2.0
 *
 * Which bytes an MPI call reads and writes, and as what they are recorded. Any thread.
 */
#ifndef MARLINE_CHECK_MPI_BUFFERS_H
#define MARLINE_CHECK_MPI_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi/library.h"

/* Whose accesses they are: of the task that calls; of an operation that a request completes; of one that begins with
 * each MPI_Start of a request. */
typedef enum Way { kCurrentTask, kStarted, kKept } Way;

typedef struct Part {
  uintptr_t address;
  size_t size;
  bool is_write;
} Part;

/* The accesses of one call. */
typedef struct Operation {
  Way way;
  uint64_t number; /* kStarted: of marline_accesses_start */
  const char* name;
  const void* code;
  Part* parts; /* kKept; the request's afterwards */
  size_t count, room;
} Operation;

Operation operation_begin(Way way, const char* name, const void* code);

/* `count` elements of `datatype` from `buffer` on, as MPI counts them (its gaps are not accessed). */
void reads(Operation* operation, const void* buffer, MPI_Count count, MPI_Datatype datatype);
void writes(Operation* operation, const void* buffer, MPI_Count count, MPI_Datatype datatype);

/* `buffer` moved by so many extents of the type. */
const void* moved(const void* buffer, MPI_Aint extents, MPI_Datatype datatype);

/* The processes that a collective call's parts belong to: of the other group, if there is one. */
int processes(MPI_Comm comm);
int rank_in(MPI_Comm comm);

/* This process's part in a call with a root: it is the root, gives to it or gets from it, or does nothing (in the
 * root's group of two). */
bool is_root(int root, MPI_Comm comm);
bool is_leaf(int root, MPI_Comm comm);
bool is_apart(int root, MPI_Comm comm);

/* The type is freed: another one may get its handle. */
void buffers_forget(MPI_Datatype datatype);

#endif
