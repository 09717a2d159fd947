/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI_Bsend. It is local (MPI 3.1, 3.4), so in a task MPI_Ibsend is complete at once and nothing suspends.
 */
#include "engine.h"

int MPI_Bsend(const void *buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm)
{
  marline_task_sends();
  if (!may_suspend(__builtin_return_address(0)))
    return next_mpi.bsend(buffer, count, type, destination, tag, comm);
  MPI_Request request;
  const int error = next_mpi.ibsend(buffer, count, type, destination, tag, comm, &request);
  return error != MPI_SUCCESS ? error : engine_complete(&request, MPI_STATUS_IGNORE);
}

extern __typeof__(MPI_Bsend) PMPI_Bsend __attribute__((alias("MPI_Bsend")));
