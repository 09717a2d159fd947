/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI_Probe. In a task, MPI_Iprobe until it says yes. As with threads, another task may receive the message that this
 * one has seen, unless tags or communicators keep them apart.
 */
#include "engine.h"

typedef struct PendingProbe {
  Pending base; /* first: the engine hands back a pointer to it */
  int source;
  int tag;
  MPI_Comm comm;
  MPI_Status *status;
} PendingProbe;

static bool finished(Pending *pending)
{
  PendingProbe *call = (PendingProbe *)pending;
  int flag = 0;
  call->base.error = next_mpi.iprobe(call->source, call->tag, call->comm, &flag, call->status);
  return flag || call->base.error != MPI_SUCCESS;
}

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
  if (!may_suspend(__builtin_return_address(0)))
    return next_mpi.probe(source, tag, comm, status);
  PendingProbe call = {.base.finished = finished, .source = source, .tag = tag, .comm = comm, .status = status};
  if (!finished(&call.base))
    engine_wait(&call.base);
  return call.base.error;
}

extern __typeof__(MPI_Probe) PMPI_Probe __attribute__((alias("MPI_Probe")));
