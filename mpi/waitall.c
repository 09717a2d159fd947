/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI_Waitall. In a task, MPI_Testall until it says yes: it leaves all requests alone until all are complete, and
 * treats null, inactive and failed ones as MPI_Waitall does.
 */
#include "engine.h"
#include "waiting.h"

typedef struct PendingWaitall {
  Pending base; /* first: the engine hands back a pointer to it */
  int count;
  MPI_Request *requests;
  MPI_Status *statuses;
} PendingWaitall;

static bool finished(Pending *pending)
{
  PendingWaitall *call = (PendingWaitall *)pending;
  int flag = 0;
  call->base.error = next_mpi.testall(call->count, call->requests, &flag, call->statuses);
  return flag || call->base.error != MPI_SUCCESS;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
  MpiCall what = {.name = "MPI_Waitall", .peer = kNoPeer, .tag = kNoTag, .requests = count};
  if (!may_suspend(__builtin_return_address(0))) {
    BLOCKED_IN(&what);
    return next_mpi.waitall(count, requests, statuses);
  }
  PendingWaitall call = {
      .base = {.finished = finished, .call = &what}, .count = count, .requests = requests, .statuses = statuses};
  if (!finished(&call.base)) {
    what.requests = waiting_requests(count, requests);
    engine_wait(&call.base);
  }
  return call.base.error;
}

extern __typeof__(MPI_Waitall) PMPI_Waitall __attribute__((alias("MPI_Waitall")));
