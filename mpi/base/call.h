/* SPDX-License-Identifier: Apache-2.0
 *
 * A description of a blocking MPI call in the program's terms, for reports of what a task waits for. It is on the stack
 * of the call.
 */
#ifndef MARLINE_MPI_CALL_H
#define MARLINE_MPI_CALL_H

#include <limits.h>

#include "base/mpi_library.h"

enum { kNoPeer = INT_MIN, kNoTag = INT_MIN };

typedef struct MpiCall {
  const char* name;      /* "MPI_Recv" */
  const void* caller;    /* return address of the call; NULL: this library itself makes the call, for a task */
  MPI_Comm comm;         /* 0: none */
  MPI_Datatype datatype; /* 0: none, and then no count */
  MPI_Count count;
  int peer;                 /* rank in comm, MPI_ANY_SOURCE, MPI_PROC_NULL, or kNoPeer */
  int tag;                  /* or MPI_ANY_TAG, or kNoTag */
  int requests;             /* number of requests that the call waits for, if it was given any */
  const MPI_Request* given; /* the `given_count` requests that the call was given, null ones too; NULL: none */
  int given_count;
  struct marline_mpi_speculation* scope; /* of a receive that is cancelled when this scope is stopped; or NULL */
} MpiCall;

#endif
