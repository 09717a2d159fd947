/* SPDX-License-Identifier: Apache-2.0
 *
 * marline_mpi_speculation_stop: the protocol of docs/design/distributed-cancellation.md, step by step. One task per
 * rank runs this; it suspends in each step that waits. Messages and collectives of the protocol itself go over the
 * scope's duplicate of the communicator, except the markers, which must follow the program's messages.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#pragma GCC visibility push(default)
#include "marline/marline_mpi.h"
#pragma GCC visibility pop
#include "base/report.h"
#include "comm/order.h"
#include "speculation/speculation.h"

/* The last message of a rank to another one in the scope, with any tag: no program sends these bytes by chance. */
static const unsigned char kMarker[16] = {0x8f, 0x1b, 0xd3, 0x5e, 0x27, 0xa9, 0x74, 0xc0,
                                          0xe6, 0x42, 0x9d, 0x0b, 0x58, 0xf1, 0x36, 0xca};

static const char kName[] = "marline_mpi_speculation_stop";

static void check(int error, const char* what) {
  if (error != MPI_SUCCESS) report_fatal("%s: %s failed with MPI error %d", kName, what, error);
}

static void complete(int started, MPI_Request* request, MPI_Status* status, const char* what, MPI_Comm comm) {
  check(started, what);
  check(engine_complete(request, status, &(const MpiCall){.name = kName, .comm = comm, .peer = kNoPeer, .tag = kNoTag}),
        what);
}

static void* zeros(size_t bytes) {
  void* memory = calloc(bytes > 0 ? bytes : 1, 1);
  if (memory == NULL) report_fatal("%s: no memory for a message of %zu bytes", kName, bytes);
  return memory;
}

/* Collectives ------------------------------------------------------------------------------------------------------ */

/* How many collectives the ranks have entered. */
typedef struct Progress {
  int64_t least;
  int64_t most;
  int first; /* the first rank with the most */
} Progress;

/* Returns when all ranks have stopped, because each rank contributes after its stop. */
static Progress agree(Speculation* scope, int ranks) {
  int64_t mine = (int64_t)scope->entered;
  int64_t* all = zeros((size_t)ranks * sizeof mine);
  MPI_Request request;
  const int started =
      next_mpi.iallgather(&mine, sizeof mine, MPI_PACKED, all, sizeof mine, MPI_PACKED, scope->shadow, &request);
  complete(started, &request, MPI_STATUS_IGNORE, "MPI_Iallgather", scope->shadow);
  Progress progress = {all[0], all[0], 0};
  for (int rank = 1; rank < ranks; ++rank) {
    if (all[rank] < progress.least) progress.least = all[rank];
    if (all[rank] > progress.most) progress = (Progress){progress.least, all[rank], rank};
  }
  free(all);
  return progress;
}

/* The records of the collectives that some rank has not entered, from a rank that has entered all. */
static CollectiveRecord* share_records(const Speculation* scope, const Progress* progress) {
  const int64_t count = progress->most - progress->least;
  if (count > kCollectivesKept)
    report_fatal(
        "%s: a rank is %lld collectives ahead of another; at most %d can be made up for: let iterations run "
        "less far ahead",
        kName, (long long)count, kCollectivesKept);
  CollectiveRecord* records = zeros((size_t)count * sizeof *records);
  for (int64_t k = 0; k < count; ++k) records[k] = scope->kept[(progress->least + k) % kCollectivesKept];
  MPI_Request request;
  const int started = next_mpi.ibcast(records, (int)((size_t)count * sizeof *records), MPI_PACKED, progress->first,
                                      scope->shadow, &request);
  complete(started, &request, MPI_STATUS_IGNORE, "MPI_Ibcast", scope->shadow);
  return records;
}

static int start_in_place_of_the_program(const CollectiveRecord* record, void* from, void* to, MPI_Comm comm,
                                         MPI_Request* request) {
  const int count = (int)record->count; /* it fits: speculation_enter_collective refuses more */
  switch (record->kind) {
    case kCollectiveBcast:
      return next_mpi.ibcast(to, count, type_of_number(record->datatype), record->root, comm, request);
    case kCollectiveReduce:
      return next_mpi.ireduce(from, to, count, type_of_number(record->datatype), op_of_number(record->op), record->root,
                              comm, request);
    case kCollectiveAllreduce:
      return next_mpi.iallreduce(from, to, count, type_of_number(record->datatype), op_of_number(record->op), comm,
                                 request);
    default: return next_mpi.ibarrier(comm, request);
  }
}

static size_t bytes_of(const CollectiveRecord* record) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  if (record->kind != kCollectiveBarrier)
    check(next_mpi.type_get_extent(type_of_number(record->datatype), &lower, &extent), "MPI_Type_get_extent");
  return (size_t)record->count * (size_t)extent;
}

/* The call as the program would have made it: the communicator's log of collectives stays the same on all ranks. */
static MpiCall call_of(const CollectiveRecord* record, MPI_Comm comm) {
  static const char* const kNames[] = {[kCollectiveBarrier] = "MPI_Barrier",
                                       [kCollectiveBcast] = "MPI_Bcast",
                                       [kCollectiveReduce] = "MPI_Reduce",
                                       [kCollectiveAllreduce] = "MPI_Allreduce"};
  const bool has_root = record->kind == kCollectiveBcast || record->kind == kCollectiveReduce;
  MpiCall call = {.name = kNames[record->kind], .comm = comm, .peer = has_root ? record->root : kNoPeer, .tag = kNoTag};
  if (record->kind != kCollectiveBarrier) {
    call.datatype = type_of_number(record->datatype);
    call.count = (MPI_Count)record->count;
  }
  return call;
}

/* Enters the collective with zeros as data: the ranks where the program entered it have cancelled what needs the
 * result. */
static void enter_in_place_of_the_program(const CollectiveRecord* record, MPI_Comm comm) {
  const MpiCall call = call_of(record, comm);
  IN_ORDER(ticket, __builtin_return_address(0), &call);
  const size_t bytes = bytes_of(record);
  void* from = zeros(bytes);
  void* to = zeros(bytes);
  MPI_Request request;
  const int started = start_in_place_of_the_program(record, from, to, comm, &request);
  if (record->kind != kCollectiveBarrier) order_sized(&ticket, &call);
  complete(started, &request, MPI_STATUS_IGNORE, "a collective that other ranks have entered", comm);
  free(from);
  free(to);
}

static void complete_collectives(Speculation* scope, MPI_Comm comm, const Progress* progress) {
  if (progress->most == progress->least) return;
  CollectiveRecord* records = share_records(scope, progress);
  for (int64_t k = (int64_t)scope->entered - progress->least; k < progress->most - progress->least; ++k) {
    enter_in_place_of_the_program(&records[k], comm);
    ++scope->completed;
  }
  free(records);
}

/* Messages --------------------------------------------------------------------------------------------------------- */

/* The next message from a rank. The poller matches it, so that no other task can take it. */
typedef struct Next {
  Pending base; /* first: the engine hands back a pointer to it */
  MPI_Comm comm;
  int source;
  MPI_Message message;
  MPI_Status status;
} Next;

static bool has_message(Pending* pending) {
  Next* next = (Next*)pending;
  int flag = 0;
  next->base.error = next_mpi.improbe(next->source, MPI_ANY_TAG, next->comm, &flag, &next->message, &next->status);
  return flag || next->base.error != MPI_SUCCESS;
}

/* Receives and drops one message, as MPI_PACKED, which any message matches. Returns true if it was the marker. */
static bool take_message(MPI_Comm comm, int source) {
  Next next = {.base = {.finished = has_message,
                        .call = &(const MpiCall){.name = kName, .comm = comm, .peer = source, .tag = MPI_ANY_TAG}},
               .comm = comm,
               .source = source};
  if (!has_message(&next.base)) engine_wait(&next.base);
  check(next.base.error, "MPI_Improbe");
  int bytes = 0;
  check(next_mpi.get_count(&next.status, MPI_PACKED, &bytes), "MPI_Get_count");
  if (bytes == MPI_UNDEFINED)
    report_fatal("%s: a message from rank %d is longer than %d bytes", kName, source, INT_MAX);
  void* scratch = zeros((size_t)bytes);
  MPI_Request request;
  const int started = next_mpi.imrecv(scratch, bytes, MPI_PACKED, &next.message, &request);
  complete(started, &request, MPI_STATUS_IGNORE, "MPI_Imrecv", comm);
  const bool is_marker = bytes == (int)sizeof kMarker && memcmp(scratch, kMarker, sizeof kMarker) == 0;
  free(scratch);
  return is_marker;
}

/* All ranks have stopped: a rank sends nothing on `comm` after its markers before it has ended the scope. Receives
 * rank by rank, and from each rank up to its marker, because what follows the marker may be the next scope's. */
static void drain(Speculation* scope, MPI_Comm comm, int ranks) {
  MPI_Request* markers = zeros((size_t)ranks * sizeof *markers);
  for (int rank = 0; rank < ranks; ++rank)
    check(next_mpi.isend(kMarker, sizeof kMarker, MPI_PACKED, rank, 0, comm, &markers[rank]), "MPI_Isend");
  for (int rank = 0; rank < ranks; ++rank) {
    while (!take_message(comm, rank)) ++scope->drained;
  }
  for (int rank = 0; rank < ranks; ++rank) complete(MPI_SUCCESS, &markers[rank], MPI_STATUS_IGNORE, "MPI_Isend", comm);
  free(markers);
}

void marline_mpi_speculation_stop(Speculation* scope) {
  marline_taskgroup_cancel_later();
  if (scope == NULL) return;
  if (!may_suspend(__builtin_return_address(0)))
    report_fatal("%s was called outside of tasks, or by a library whose calls never suspend", kName);
  const MPI_Comm comm = atomic_load_explicit(&scope->comm, memory_order_relaxed);
  int ranks = 0;
  check(next_mpi.comm_size(comm, &ranks), "MPI_Comm_size");
  speculation_close(scope);
  const Progress progress = agree(scope, ranks);
  complete_collectives(scope, comm, &progress);
  drain(scope, comm, ranks);
}
