/* SPDX-License-Identifier: Apache-2.0
 *
 * Buffers in device memory that the stand-in for a GPU-aware MPI (gpu_aware.c) replaces by buffers of the host.
 *
 * A Staged belongs to one buffer of one call. While its request is open it is in a list; the thread that tests the
 * request takes it out for the time of the test, because another thread may get a new request of the same handle as
 * soon as MPI has freed this one.
 */
#ifndef MARLINE_TESTS_STAGED_H
#define MARLINE_TESTS_STAGED_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum Use { kRead = 1, kWritten = 2, kBoth = 3 } Use; /* what MPI does with the buffer */

typedef struct Staged {
  struct Staged* next;
  MPI_Request request;
  bool persistent, active;
  Use use;
  char* device;
  char* host;  /* passed to MPI in place of `device` */
  char* bytes; /* the memory of `host`: bytes [lower, lower + size) of the buffer */
  MPI_Aint lower;
  size_t size;
  MPI_Count count;
  MPI_Datatype type;
  bool by_status; /* written as far as the status says; otherwise all of it */
} Staged;

/* NULL: the buffer is not in device memory. Copies from the device what MPI reads. */
Staged* stage(const void* buffer, MPI_Count count, MPI_Datatype type, Use use, bool by_status);

/* What to pass to MPI. */
static inline void* passed(const Staged* staged, const void* buffer) {
  return staged != NULL ? (void*)staged->host : (void*)buffer;
}

/* The call has ended: copies to the device what MPI has written, unless it has failed, and frees the records (a chain
 * by `next`). NULL is allowed. */
void unstage(Staged* chain, const MPI_Status* status, int error);
/* The same, but the records stay as they are. */
void copy_back(const Staged* chain, const MPI_Status* status, int error);
void copy_again(Staged* chain);
void forget(Staged* chain);

/* The list. `keep` takes over one Staged or NULL. */
void keep(Staged* staged, const MPI_Request* request, int error, bool persistent);
bool is_any_kept(void);
Staged* take(MPI_Request request); /* all of that request */
void put_back(Staged* chain);

#endif
