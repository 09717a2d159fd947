/* SPDX-License-Identifier: Apache-2.0
 *
 * Speculation scopes (marline/marline_mpi.h): what the wrappers do in a scope. While no scope is open in the process, a
 * call pays one load and a branch for them.
 *
 * A scope counts, in one word, the calls that are being started and the receives that are open; the word also has a bit
 * for "stopped". So the task that stops the scope knows when no further call will begin. The wrappers and the stopping
 * task use a scope at the same time; the comment of each field that is not atomic says which of them owns it.
 */
#ifndef MARLINE_MPI_SPECULATION_H
#define MARLINE_MPI_SPECULATION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/call.h"
#include "base/mpi_library.h"

/* The collectives that the stop can enter in place of the program, on a rank that has not entered them. */
typedef enum CollectiveKind {
  kCollectiveOther, /* every other collective */
  kCollectiveBarrier,
  kCollectiveBcast,
  kCollectiveReduce,
  kCollectiveAllreduce,
} CollectiveKind;

/* One collective as the wrapper got it, with handles of predefined objects only. */
typedef struct CollectiveCall {
  CollectiveKind kind;
  int root;
  int64_t count;
  MPI_Datatype datatype;
  MPI_Op op;
} CollectiveCall;

/* The same, as it is sent to other ranks: handles as Fortran's integers, which are equal everywhere. */
typedef struct CollectiveRecord {
  int32_t kind;
  int32_t root;
  int32_t datatype;
  int32_t op;
  int64_t count;
} CollectiveRecord;

/* How many collectives one rank may be ahead of another. */
enum { kCollectivesKept = 1024 };

typedef struct marline_mpi_speculation {
  /* Written by begin and end; `open` and `comm` are read by every call on any communicator. */
  _Atomic bool taken;
  _Atomic bool open;
  _Atomic(MPI_Comm) comm;
  MPI_Comm shadow; /* a duplicate of the communicator, for the protocol itself */
  /* STOPPED | calls being started + receives open, 31 bits: MPI has each of them while it is counted. Every call in
   * the scope adds one and takes it away again. */
  _Atomic uint32_t in_flight;
  /* Any call adds to them; read at the end. */
  _Atomic uint64_t sent, received, withdrawn, refused;
  /* Owned by the task that enters a collective: MPI demands that the program orders the collectives of one
   * communicator, so no two tasks are here at a time. After the stop, owned by the stopping task. */
  uint64_t entered;
  CollectiveRecord* kept; /* the last kCollectivesKept: a ring */
  /* Owned by the stopping task. */
  uint64_t drained, completed;
} Speculation;

/* How many scopes are open. */
extern __attribute__((visibility("hidden"))) _Atomic int speculation_scopes;

Speculation* speculation_find(MPI_Comm comm);

/* The open scope of `comm`, or NULL. Relaxed: a thread that calls in a scope knows that the scope has begun. */
static inline Speculation* speculation_of(MPI_Comm comm) {
  return atomic_load_explicit(&speculation_scopes, memory_order_relaxed) == 0 ? NULL : speculation_find(comm);
}

/* Called before a call in the scope starts its operation. Returns false if the scope is stopped: the call must not
 * start it. */
bool speculation_enter(Speculation* scope, const char* call);
bool speculation_enter_collective(Speculation* scope, const char* name, const CollectiveCall* call);

/* Called after a call has started its operation, or failed to; for a receive, when it is complete. */
void speculation_leave(Speculation* scope);
void speculation_count_send(Speculation* scope, int destination);

/* Completes a receive that was started with the result `started`, and leaves its scope, call->scope. */
int speculation_complete_receive(int started, MPI_Request* request, int source, MPI_Status* status,
                                 const MpiCall* call);

bool speculation_is_stopped(const Speculation* scope);

/* Stops the scope on this rank: from now on no operation is started, and receives are cancelled. Returns when no
 * receive is open. */
void speculation_close(Speculation* scope);

#endif
