/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI_Waitany. In a task, MPI_Testany until it says yes: it completes exactly one request, and answers MPI_UNDEFINED at
 * once when all are null or inactive.
 */
#include "engine.h"
#include "waiting.h"

typedef struct PendingWaitany {
  Pending base; /* first: the engine hands back a pointer to it */
  int count;
  MPI_Request *requests;
  int *index;
  MPI_Status *status;
} PendingWaitany;

static bool finished(Pending *pending)
{
  PendingWaitany *call = (PendingWaitany *)pending;
  int flag = 0;
  call->base.error = next_mpi.testany(call->count, call->requests, call->index, &flag, call->status);
  return flag || call->base.error != MPI_SUCCESS;
}

int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
  MpiCall what = {.name = "MPI_Waitany", .peer = kNoPeer, .tag = kNoTag, .requests = count};
  if (!may_suspend(__builtin_return_address(0))) {
    BLOCKED_IN(&what);
    return next_mpi.waitany(count, requests, index, status);
  }
  PendingWaitany call = {.base = {.finished = finished, .call = &what},
                         .count = count,
                         .requests = requests,
                         .index = index,
                         .status = status};
  if (!finished(&call.base)) {
    what.requests = waiting_requests(count, requests);
    engine_wait(&call.base);
  }
  /* Nothing to wait for: MPI_Waitany gives the empty status then, MPICH's MPI_Testany leaves it alone. */
  if (call.base.error == MPI_SUCCESS && *index == MPI_UNDEFINED)
    return next_mpi.waitany(count, requests, index, status);
  return call.base.error;
}

extern __typeof__(MPI_Waitany) PMPI_Waitany __attribute__((alias("MPI_Waitany")));
