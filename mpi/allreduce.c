/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI_Allreduce, always as MPI_Iallreduce: see collective.h.
 */
#include "collective.h"

int MPI_Allreduce(const void *send_buffer, void *recv_buffer, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
  const void *caller = __builtin_return_address(0);
  if (!is_converted(caller))
    return next_mpi.allreduce(send_buffer, recv_buffer, count, type, op, comm);
  MPI_Request request;
  const int started = next_mpi.iallreduce(send_buffer, recv_buffer, count, type, op, comm, &request);
  return collective_complete(started, &request, caller);
}

extern __typeof__(MPI_Allreduce) PMPI_Allreduce __attribute__((alias("MPI_Allreduce")));
