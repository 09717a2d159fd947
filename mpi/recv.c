/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI_Recv. In a task, MPI_Irecv and a suspension until the message is there. Receives are matched in the order in
 * which the tasks call, as MPI demands for threads. From MPI_PROC_NULL the call is left as it is: it does not block,
 * and MPICH 4.0 gives MPI_Irecv's request a status of zeros instead of the one that MPI 3.1, 3.11 demands.
 */
#include "engine.h"

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
  if (source == MPI_PROC_NULL || !may_suspend(__builtin_return_address(0)))
    return next_mpi.recv(buffer, count, type, source, tag, comm, status);
  MPI_Request request;
  const int error = next_mpi.irecv(buffer, count, type, source, tag, comm, &request);
  return error != MPI_SUCCESS ? error : engine_complete(&request, status);
}

extern __typeof__(MPI_Recv) PMPI_Recv __attribute__((alias("MPI_Recv")));
