/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI_Sendrecv. In a task, MPI_Irecv and MPI_Isend, each completed with a suspension if need be.
 */
#include "engine.h"

/* The receive is posted already but the send cannot be: MPI_Sendrecv would have done neither. */
static int withdraw(MPI_Request *receive, int send_error)
{
  next_mpi.cancel(receive);
  next_mpi.wait(receive, MPI_STATUS_IGNORE);
  return send_error;
}

/* Both are completed, also if the first fails: neither request may be left behind. */
static int complete_both(MPI_Request *send, MPI_Request *receive, MPI_Status *status)
{
  const int send_error = engine_complete(send, MPI_STATUS_IGNORE);
  const int receive_error = engine_complete(receive, status);
  return receive_error != MPI_SUCCESS ? receive_error : send_error;
}

int MPI_Sendrecv(const void *send_buffer, int send_count, MPI_Datatype send_type, int destination, int send_tag,
                 void *recv_buffer, int recv_count, MPI_Datatype recv_type, int source, int recv_tag, MPI_Comm comm,
                 MPI_Status *status)
{
  marline_task_sends();
  if (!may_suspend(__builtin_return_address(0)))
    return next_mpi.sendrecv(send_buffer, send_count, send_type, destination, send_tag, recv_buffer, recv_count,
                             recv_type, source, recv_tag, comm, status);
  MPI_Request receive;
  MPI_Request send;
  int error = next_mpi.irecv(recv_buffer, recv_count, recv_type, source, recv_tag, comm, &receive);
  if (error != MPI_SUCCESS)
    return error;
  error = next_mpi.isend(send_buffer, send_count, send_type, destination, send_tag, comm, &send);
  if (error != MPI_SUCCESS)
    return withdraw(&receive, error);
  error = complete_both(&send, &receive, status);
  if (source == MPI_PROC_NULL && error == MPI_SUCCESS) /* for its status: see recv.c */
    return next_mpi.recv(recv_buffer, recv_count, recv_type, source, recv_tag, comm, status);
  return error;
}

extern __typeof__(MPI_Sendrecv) PMPI_Sendrecv __attribute__((alias("MPI_Sendrecv")));
