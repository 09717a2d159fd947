/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI_Waitall. In a task, MPI_Testall is called until it succeeds: it changes no request until all are complete, and
 * treats null, inactive and failed requests as MPI_Waitall does. Many requests are tested in parts, one after the
 * other: while a part is not complete, later parts need not be tested. So the total cost is linear in the number of
 * requests.
 */
#include "engine/engine.h"

#include <limits.h>

#include "engine/waiting.h"

typedef struct PendingWaitall {
  Pending base; /* first: the engine hands back a pointer to it */
  int count;
  MPI_Request *requests;
  MPI_Status *statuses;
  int done; /* requests in front that are complete */
} PendingWaitall;

enum { kPartsPerLook = 16 };

/* MPI_Testall has left a part with an error, and said in its statuses which request it is. The others' statuses are as
 * MPI_Waitall would have them if it had ended there: complete in front, not looked at behind. */
static void say_in_other_statuses(PendingWaitall *call, int size)
{
  int class = MPI_SUCCESS;
  next_mpi.error_class(call->base.error, &class);
  if (call->statuses == MPI_STATUSES_IGNORE || class != MPI_ERR_IN_STATUS)
    return;
  for (int i = 0; i < call->done; ++i)
    call->statuses[i].MPI_ERROR = MPI_SUCCESS;
  for (int i = call->done + size; i < call->count; ++i)
    call->statuses[i].MPI_ERROR = MPI_ERR_PENDING;
}

/* Part by part, over `parts` at most: true if the call has its result. MPI is asked also if there is no request, for
 * wrong arguments. */
static bool look(PendingWaitall *call, int parts)
{
  for (; parts > 0; --parts) {
    const int left = call->count - call->done;
    const int size = left < kRequestsPerLook ? left : kRequestsPerLook;
    MPI_Status *statuses = call->statuses == MPI_STATUSES_IGNORE ? call->statuses : call->statuses + call->done;
    int flag = 0;
    call->base.error = next_mpi.testall(size, call->requests + call->done, &flag, statuses);
    if (call->base.error != MPI_SUCCESS)
      say_in_other_statuses(call, size);
    if (call->base.error != MPI_SUCCESS || !flag)
      return call->base.error != MPI_SUCCESS;
    call->done += size;
    if (call->done >= call->count)
      return true;
  }
  return false;
}

static bool finished(Pending *pending)
{
  return look((PendingWaitall *)pending, kPartsPerLook);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
  PASS_ON_FROM_TOOL(waitall(count, requests, statuses));
  MpiCall what = {.name = "MPI_Waitall", .caller = __builtin_return_address(0), .peer = kNoPeer, .tag = kNoTag,
                  .requests = count, .given = requests, .given_count = count};
  if (!engine_takes(__builtin_return_address(0))) {
    BLOCKED_IN(&what);
    return next_mpi.waitall(count, requests, statuses);
  }
  PendingWaitall call = {
      .base = {.finished = finished, .call = &what}, .count = count, .requests = requests, .statuses = statuses};
  if (!look(&call, INT_MAX)) {
    what.requests = waiting_requests(count, requests);
    engine_wait(&call.base);
  }
  return call.base.error;
}

extern __typeof__(MPI_Waitall) PMPI_Waitall __attribute__((alias("MPI_Waitall")));
