/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI_Reduce, always as MPI_Ireduce: see collective.h.
 */
#include "collective.h"

int MPI_Reduce(const void *send_buffer, void *recv_buffer, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm)
{
  const void *caller = __builtin_return_address(0);
  if (!is_converted(caller))
    return next_mpi.reduce(send_buffer, recv_buffer, count, type, op, root, comm);
  MPI_Request request;
  const int started = next_mpi.ireduce(send_buffer, recv_buffer, count, type, op, root, comm, &request);
  return collective_complete(started, &request, caller);
}

extern __typeof__(MPI_Reduce) PMPI_Reduce __attribute__((alias("MPI_Reduce")));
