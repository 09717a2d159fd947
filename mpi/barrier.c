/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI_Barrier, always as MPI_Ibarrier: see collective.h.
 */
#include "collective.h"

int MPI_Barrier(MPI_Comm comm)
{
  const void *caller = __builtin_return_address(0);
  if (!is_converted(caller))
    return next_mpi.barrier(comm);
  MPI_Request request;
  const int started = next_mpi.ibarrier(comm, &request);
  return collective_complete(started, &request, caller);
}

extern __typeof__(MPI_Barrier) PMPI_Barrier __attribute__((alias("MPI_Barrier")));
