/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI_Ssend. In a task, MPI_Issend and a suspension until the receiver has begun to receive.
 */
#include "engine.h"

int MPI_Ssend(const void *buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm)
{
  marline_task_sends();
  if (!may_suspend(__builtin_return_address(0)))
    return next_mpi.ssend(buffer, count, type, destination, tag, comm);
  MPI_Request request;
  const int error = next_mpi.issend(buffer, count, type, destination, tag, comm, &request);
  return error != MPI_SUCCESS ? error : engine_complete(&request, MPI_STATUS_IGNORE);
}

extern __typeof__(MPI_Ssend) PMPI_Ssend __attribute__((alias("MPI_Ssend")));
