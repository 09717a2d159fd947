/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI_Rsend. In a task, MPI_Irsend and a suspension if the message has not left the buffer.
 */
#include "engine.h"

int MPI_Rsend(const void *buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm)
{
  marline_task_sends();
  if (!may_suspend(__builtin_return_address(0)))
    return next_mpi.rsend(buffer, count, type, destination, tag, comm);
  MPI_Request request;
  const int error = next_mpi.irsend(buffer, count, type, destination, tag, comm, &request);
  return error != MPI_SUCCESS ? error : engine_complete(&request, MPI_STATUS_IGNORE);
}

extern __typeof__(MPI_Rsend) PMPI_Rsend __attribute__((alias("MPI_Rsend")));
