/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI_Waitany. In a task, MPI_Testany is called until it succeeds: it completes exactly one request, and returns
 * MPI_UNDEFINED at once if all requests are null or inactive. The first test covers all requests. Later the poller
 * tests them if they are few (parts.h); otherwise one test after the other covers 64 of them.
 */
#include "calls/parts.h"
#include "engine/waiting.h"

typedef struct PendingWaitany {
  Pending base; /* first: the engine hands back a pointer to it */
  Parts parts;
  int count;
  MPI_Request* requests;
  int* index;
  MPI_Status* status;
  int begin;    /* start of the next look */
  int inactive; /* number of requests in looks that had nothing to wait for, since the last look that had */
} PendingWaitany;

/* Looks at requests [begin, begin + size). */
static bool look(PendingWaitany* call, int begin, int size) {
  int flag = 0;
  call->base.error = next_mpi.testany(size, call->requests + begin, call->index, &flag, call->status);
  if (call->base.error == MPI_SUCCESS && !flag) {
    call->inactive = 0;
    return false;
  }
  if (*call->index != MPI_UNDEFINED) {
    *call->index += begin;
    return true;
  }
  call->inactive += size;
  return call->base.error != MPI_SUCCESS || call->inactive >= call->count;
}

static bool look_at_next(PendingWaitany* call) {
  const int left = call->count - call->begin;
  const int begin = call->begin;
  const int size = left < kRequestsPerLook ? left : kRequestsPerLook;
  call->begin = begin + size < call->count ? begin + size : 0;
  return look(call, begin, size);
}

static bool finished(Pending* pending) {
  PendingWaitany* call = (PendingWaitany*)pending;
  return look_at_next(call) ||
         (parts_add_open(&call->parts, call->count, call->requests) && look(call, 0, call->count));
}

static bool part_completed(Several* several, Pending* part) {
  PendingWaitany* call = (PendingWaitany*)several->whole;
  *call->index = parts_index(&call->parts, part);
  call->requests[*call->index] = part->request;
  call->base.error = part->error;
  return true;
}

static void part_failed_too(Several* several, Pending* part) {
  PendingWaitany* call = (PendingWaitany*)several->whole;
  call->requests[parts_index(&call->parts, part)] = part->request;
}

int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  PASS_ON_FROM_TOOL(waitany(count, requests, index, status));
  MpiCall what = {.name = "MPI_Waitany",
                  .caller = __builtin_return_address(0),
                  .peer = kNoPeer,
                  .tag = kNoTag,
                  .requests = count,
                  .given = requests,
                  .given_count = count};
  if (!engine_takes(__builtin_return_address(0))) {
    BLOCKED_IN(&what);
    return next_mpi.waitany(count, requests, index, status);
  }
  PendingWaitany call; /* field by field, because most parts stay unused */
  call.base = (Pending){.finished = finished, .call = &what};
  parts_begin(&call.parts, &call.base, part_completed, part_failed_too);
  call.parts.status = status;
  call.count = count;
  call.requests = requests;
  call.index = index;
  call.status = status;
  call.begin = 0;
  call.inactive = 0;
  if (!look(&call, 0, count)) {
    what.requests = waiting_requests(count, requests);
    engine_wait(&call.base);
  }
  /* There was nothing to wait for. MPI_Waitany then gives the empty status; MPICH's MPI_Testany does not set it. */
  if (call.base.error == MPI_SUCCESS && *index == MPI_UNDEFINED)
    return next_mpi.waitany(count, requests, index, status);
  return call.base.error;
}

extern __typeof__(MPI_Waitany) PMPI_Waitany __attribute__((alias("MPI_Waitany")));
