/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI_Waitsome. In a task, MPI_Testsome is called until it has found one: it completes all requests that are complete,
 * and returns MPI_UNDEFINED at once if all are null or inactive. The first test covers all requests; if there are many,
 * later tests cover one part after the other, and all of them again once one is complete.
 */
#include "engine/engine.h"
#include "engine/waiting.h"

typedef struct PendingWaitsome {
  Pending base; /* first: the engine hands back a pointer to it */
  int count;
  MPI_Request *requests;
  int *found;
  int *indices;
  MPI_Status *statuses;
  int begin;    /* of the next look */
  int inactive; /* requests in looks, since the last that found others, at parts with nothing to wait for */
} PendingWaitsome;

static bool look(PendingWaitsome *call)
{
  call->base.error = next_mpi.testsome(call->count, call->requests, call->found, call->indices, call->statuses);
  return *call->found != 0 || call->base.error != MPI_SUCCESS; /* MPI_UNDEFINED is not 0 */
}

/* Looks at requests [begin, begin + size); what is complete there is put behind what has been found. */
static void look_at_part(PendingWaitsome *call, int begin, int size)
{
  const int had = *call->found;
  MPI_Status *statuses = call->statuses == MPI_STATUSES_IGNORE ? call->statuses : call->statuses + had;
  int more = 0;
  call->base.error = next_mpi.testsome(size, call->requests + begin, &more, call->indices + had, statuses);
  call->inactive = more == MPI_UNDEFINED ? call->inactive + size : 0;
  if (more == MPI_UNDEFINED)
    return;
  for (int i = had; i < had + more; ++i)
    call->indices[i] += begin;
  if (call->base.error != MPI_SUCCESS && call->statuses != MPI_STATUSES_IGNORE) {
    for (int i = 0; i < had; ++i)
      call->statuses[i].MPI_ERROR = MPI_SUCCESS; /* the part with an error says so of its own */
  }
  *call->found = had + more;
}

static bool finished(Pending *pending)
{
  PendingWaitsome *call = (PendingWaitsome *)pending;
  if (call->count <= kRequestsPerLook || call->inactive >= call->count)
    return look(call);
  const int begin = call->begin;
  const int end = begin + kRequestsPerLook < call->count ? begin + kRequestsPerLook : call->count;
  call->begin = end < call->count ? end : 0;
  look_at_part(call, begin, end - begin);
  if (*call->found > 0 && call->base.error == MPI_SUCCESS)
    look_at_part(call, 0, begin);
  if (*call->found > 0 && call->base.error == MPI_SUCCESS)
    look_at_part(call, end, call->count - end);
  return *call->found > 0 || call->base.error != MPI_SUCCESS;
}

int MPI_Waitsome(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
  PASS_ON_FROM_TOOL(waitsome(incount, requests, outcount, indices, statuses));
  MpiCall what = {.name = "MPI_Waitsome", .caller = __builtin_return_address(0), .peer = kNoPeer, .tag = kNoTag,
                  .requests = incount, .given = requests, .given_count = incount};
  if (!engine_takes(__builtin_return_address(0))) {
    BLOCKED_IN(&what);
    return next_mpi.waitsome(incount, requests, outcount, indices, statuses);
  }
  PendingWaitsome call = {.base = {.finished = finished, .call = &what},
                          .count = incount,
                          .requests = requests,
                          .found = outcount,
                          .indices = indices,
                          .statuses = statuses};
  if (!look(&call)) { /* found none: *outcount is 0 */
    what.requests = waiting_requests(incount, requests);
    engine_wait(&call.base);
  }
  return call.base.error;
}

extern __typeof__(MPI_Waitsome) PMPI_Waitsome __attribute__((alias("MPI_Waitsome")));
