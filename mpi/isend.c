/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI_Isend, MPI_Issend, MPI_Ibsend, MPI_Irsend: they do not block, so nothing is suspended; Marline hears that the task
 * sends (marline_task_sends), whether the program or a library on its behalf calls.
 */
#include "engine.h"

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,
              MPI_Request *request)
{
  marline_task_sends();
  return next_mpi.isend(buffer, count, type, destination, tag, comm, request);
}

int MPI_Issend(const void *buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,
               MPI_Request *request)
{
  marline_task_sends();
  return next_mpi.issend(buffer, count, type, destination, tag, comm, request);
}

int MPI_Ibsend(const void *buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,
               MPI_Request *request)
{
  marline_task_sends();
  return next_mpi.ibsend(buffer, count, type, destination, tag, comm, request);
}

int MPI_Irsend(const void *buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,
               MPI_Request *request)
{
  marline_task_sends();
  return next_mpi.irsend(buffer, count, type, destination, tag, comm, request);
}

extern __typeof__(MPI_Isend) PMPI_Isend __attribute__((alias("MPI_Isend")));
extern __typeof__(MPI_Issend) PMPI_Issend __attribute__((alias("MPI_Issend")));
extern __typeof__(MPI_Ibsend) PMPI_Ibsend __attribute__((alias("MPI_Ibsend")));
extern __typeof__(MPI_Irsend) PMPI_Irsend __attribute__((alias("MPI_Irsend")));
