/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI_Bcast, always as MPI_Ibcast: see collective.h.
 */
#include "collective.h"

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
  const void *caller = __builtin_return_address(0);
  if (!is_converted(caller))
    return next_mpi.bcast(buffer, count, type, root, comm);
  MPI_Request request;
  const int started = next_mpi.ibcast(buffer, count, type, root, comm, &request);
  return collective_complete(started, &request, caller);
}

extern __typeof__(MPI_Bcast) PMPI_Bcast __attribute__((alias("MPI_Bcast")));
