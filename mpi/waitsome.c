/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI_Waitsome. In a task, MPI_Testsome until it has found one: it completes as many as are complete, and answers
 * MPI_UNDEFINED at once when all are null or inactive.
 */
#include "engine.h"
#include "waiting.h"

typedef struct PendingWaitsome {
  Pending base; /* first: the engine hands back a pointer to it */
  int count;
  MPI_Request *requests;
  int *found;
  int *indices;
  MPI_Status *statuses;
} PendingWaitsome;

static bool finished(Pending *pending)
{
  PendingWaitsome *call = (PendingWaitsome *)pending;
  call->base.error = next_mpi.testsome(call->count, call->requests, call->found, call->indices, call->statuses);
  return *call->found != 0 || call->base.error != MPI_SUCCESS; /* MPI_UNDEFINED is not 0 */
}

int MPI_Waitsome(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
  MpiCall what = {.name = "MPI_Waitsome", .peer = kNoPeer, .tag = kNoTag, .requests = incount};
  if (!may_suspend(__builtin_return_address(0))) {
    BLOCKED_IN(&what);
    return next_mpi.waitsome(incount, requests, outcount, indices, statuses);
  }
  PendingWaitsome call = {.base = {.finished = finished, .call = &what},
                          .count = incount,
                          .requests = requests,
                          .found = outcount,
                          .indices = indices,
                          .statuses = statuses};
  if (!finished(&call.base)) {
    what.requests = waiting_requests(incount, requests);
    engine_wait(&call.base);
  }
  return call.base.error;
}

extern __typeof__(MPI_Waitsome) PMPI_Waitsome __attribute__((alias("MPI_Waitsome")));
