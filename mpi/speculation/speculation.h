/* SPDX-License-Identifier: Apache-2.0
 *
 * Speculation scopes (marline/marline_mpi.h): what the wrappers do in one. While no scope is open in the process, a
 * call pays one load and a branch for them.
 *
 * A scope counts, in one word, the calls that are being started and the receives that are open, and has a bit for
 * "stopped" there. So the task that stops the scope knows when no further call will begin. The wrappers and the
 * stopping task use a scope at the same time; each field that is not atomic says which of them owns it.
 */
#ifndef MARLINE_MPI_SPECULATION_H
#define MARLINE_MPI_SPECULATION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/call.h"
#include "base/mpi_library.h"

/* The collectives that a rank can enter in another one's place. */
typedef enum CollectiveKind {
  kCollectiveOther, /* not these */
  kCollectiveBarrier,
  kCollectiveBcast,
  kCollectiveReduce,
  kCollectiveAllreduce,
} CollectiveKind;

/* One collective as the wrapper got it; handles of predefined objects only. */
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

/* Collectives that one rank may be ahead of another. */
enum { kCollectivesKept = 1024 };

typedef struct marline_mpi_speculation {
  /* Written by begin and end; `open` and `comm` are read by every call on any communicator. */
  _Atomic bool taken;
  _Atomic bool open;
  _Atomic(MPI_Comm) comm;
  MPI_Comm shadow; /* a duplicate: the protocol's own */
  /* STOPPED | calls being started + receives open, 31 bits: each is MPI's for as long. Every call in the scope adds and
   * takes away. */
  _Atomic uint32_t busy;
  /* Added to by any call; read at the end. */
  _Atomic uint64_t sent, received, withdrawn, refused;
  /* Of the task that enters a collective: MPI wants those on one communicator in an order of the program's, so no two
   * are here at a time. After the stop: the stopping task's. */
  uint64_t entered;
  CollectiveRecord* kept; /* the last kCollectivesKept: a ring */
  /* The stopping task's. */
  uint64_t drained, completed;
} Speculation;

/* Scopes that are open. */
extern _Atomic int speculation_scopes;

Speculation* speculation_find(MPI_Comm comm);

/* The open scope of `comm`, or NULL. Relaxed: who calls in a scope knows of its beginning. */
static inline Speculation* speculation_of(MPI_Comm comm) {
  return atomic_load_explicit(&speculation_scopes, memory_order_relaxed) == 0 ? NULL : speculation_find(comm);
}

/* Before a call in the scope starts its operation. False: the scope is stopped, the call must not start it. */
bool speculation_enter(Speculation* scope, const char* call);
bool speculation_enter_collective(Speculation* scope, const char* name, const CollectiveCall* call);

/* After a call has started its operation, or failed to. A receive stays until it is complete. */
void speculation_leave(Speculation* scope);
void speculation_count_send(Speculation* scope, int destination);

/* Completes a receive that `started` has begun (or failed to), and leaves. call->scope is its scope. */
int speculation_complete_receive(int started, MPI_Request* request, int source, MPI_Status* status,
                                 const MpiCall* call);

bool speculation_is_stopped(const Speculation* scope);

/* Stops the scope on this rank: from now on nothing is begun, and receives are cancelled. Returns when none is open. */
void speculation_close(Speculation* scope);

#endif
