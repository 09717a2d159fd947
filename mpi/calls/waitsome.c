/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI_Waitsome. In a task, MPI_Testsome is called until it has found a complete request: it completes all requests that
 * are complete, and returns MPI_UNDEFINED at once if all are null or inactive. The first test covers all requests.
 * Later the poller tests them if they are few (parts.h); otherwise one test after the other covers 64 of them, and all
 * of them are tested again once one is complete.
 */
#include "calls/parts.h"
#include "engine/waiting.h"

typedef struct PendingWaitsome {
  Pending base; /* first: the engine hands back a pointer to it */
  Parts parts;
  int count;
  MPI_Request* requests;
  int* found;
  int* indices;
  MPI_Status* statuses;
  int begin;    /* start of the next look */
  int inactive; /* number of requests in looks that had nothing to wait for, since the last look that had */
} PendingWaitsome;

static bool look(PendingWaitsome* call) {
  call->base.error = next_mpi.testsome(call->count, call->requests, call->found, call->indices, call->statuses);
  return *call->found != 0 || call->base.error != MPI_SUCCESS; /* MPI_UNDEFINED is not 0 */
}

/* Tests requests [begin, begin + size), and adds what is complete there to what has been found. */
static void look_at_part(PendingWaitsome* call, int begin, int size) {
  const int had = *call->found;
  MPI_Status* statuses = call->statuses == MPI_STATUSES_IGNORE ? call->statuses : call->statuses + had;
  int more = 0;
  call->base.error = next_mpi.testsome(size, call->requests + begin, &more, call->indices + had, statuses);
  call->inactive = more == MPI_UNDEFINED ? call->inactive + size : 0;
  if (more == MPI_UNDEFINED) return;
  for (int i = had; i < had + more; ++i) call->indices[i] += begin;
  if (call->base.error != MPI_SUCCESS && call->statuses != MPI_STATUSES_IGNORE) {
    for (int i = 0; i < had; ++i) /* The part with an error sets its own. */
      call->statuses[i].MPI_ERROR = MPI_SUCCESS;
  }
  *call->found = had + more;
}

static bool look_at_next(PendingWaitsome* call) {
  if (call->count <= kRequestsPerLook || call->inactive >= call->count) return look(call);
  const int begin = call->begin;
  const int end = begin + kRequestsPerLook < call->count ? begin + kRequestsPerLook : call->count;
  call->begin = end < call->count ? end : 0;
  look_at_part(call, begin, end - begin);
  if (*call->found > 0 && call->base.error == MPI_SUCCESS) look_at_part(call, 0, begin);
  if (*call->found > 0 && call->base.error == MPI_SUCCESS) look_at_part(call, end, call->count - end);
  return *call->found > 0 || call->base.error != MPI_SUCCESS;
}

static bool finished(Pending* pending) {
  PendingWaitsome* call = (PendingWaitsome*)pending;
  return look_at_next(call) || (parts_add_open(&call->parts, call->count, call->requests) && look(call));
}

/* Finds what else is complete, too; after an error that is left to the next MPI_Waitsome. */
static bool part_completed(Several* several, Pending* part) {
  PendingWaitsome* call = (PendingWaitsome*)several->whole;
  const int i = parts_index(&call->parts, part);
  call->requests[i] = part->request;
  *call->found = 1;
  call->indices[0] = i;
  if (part->error == MPI_SUCCESS) {
    look_at_part(call, 0, i);
    if (call->base.error == MPI_SUCCESS) look_at_part(call, i + 1, call->count - i - 1);
    return true;
  }
  call->base.error = MPI_ERR_IN_STATUS;
  if (call->statuses != MPI_STATUSES_IGNORE) call->statuses[0].MPI_ERROR = part->error;
  return true;
}

static void part_failed_too(Several* several, Pending* part) {
  PendingWaitsome* call = (PendingWaitsome*)several->whole;
  const int i = parts_index(&call->parts, part);
  call->requests[i] = part->request;
  if (call->statuses != MPI_STATUSES_IGNORE)
    call->statuses[*call->found] =
        (MPI_Status){.MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG, .MPI_ERROR = part->error};
  call->indices[(*call->found)++] = i;
}

int MPI_Waitsome(int incount, MPI_Request requests[], int* outcount, int indices[], MPI_Status statuses[]) {
  PASS_ON_FROM_TOOL(waitsome(incount, requests, outcount, indices, statuses));
  MpiCall what = {.name = "MPI_Waitsome",
                  .caller = __builtin_return_address(0),
                  .peer = kNoPeer,
                  .tag = kNoTag,
                  .requests = incount,
                  .given = requests,
                  .given_count = incount};
  if (!engine_takes(__builtin_return_address(0))) {
    BLOCKED_IN(&what);
    return next_mpi.waitsome(incount, requests, outcount, indices, statuses);
  }
  PendingWaitsome call; /* field by field, because most parts stay unused */
  call.base = (Pending){.finished = finished, .call = &what};
  parts_begin(&call.parts, &call.base, part_completed, part_failed_too);
  call.parts.status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses;
  call.count = incount;
  call.requests = requests;
  call.found = outcount;
  call.indices = indices;
  call.statuses = statuses;
  call.begin = 0;
  call.inactive = 0;
  if (!look(&call)) { /* nothing was found: *outcount is 0 */
    what.requests = waiting_requests(incount, requests);
    engine_wait(&call.base);
  }
  return call.base.error;
}

extern __typeof__(MPI_Waitsome) PMPI_Waitsome __attribute__((alias("MPI_Waitsome")));
