/* SPDX-License-Identifier: Apache-2.0
 *
 * See sendrecv.h.
 */
#include "sendrecv.h"

#include <stdlib.h>

#include "engine.h"
#include "report.h"

/* The receive is posted already but the send cannot be: MPI_Sendrecv would have done neither. */
static int withdraw(MPI_Request *receive, int send_error)
{
  next_mpi.cancel(receive);
  next_mpi.wait(receive, MPI_STATUS_IGNORE);
  return send_error;
}

int sendrecv_complete(int sent, MPI_Request *send, MPI_Request *receive, MPI_Status *status, const MpiCall *call)
{
  if (sent != MPI_SUCCESS)
    return withdraw(receive, sent);
  /* Both are completed, also if the first fails: neither request may be left behind. */
  const int send_error = engine_complete(send, MPI_STATUS_IGNORE, call);
  const int receive_error = engine_complete(receive, status, call);
  return receive_error != MPI_SUCCESS ? receive_error : send_error;
}

void *sendrecv_buffer(size_t bytes)
{
  void *buffer = malloc(bytes > 0 ? bytes : 1);
  if (buffer == NULL)
    report_fatal("MPI_Sendrecv_replace in a task: no memory for the %zu bytes that it sends", bytes);
  return buffer;
}
