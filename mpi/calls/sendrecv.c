/* SPDX-License-Identifier: Apache-2.0
 *
 * Completes the send and the receive of MPI_Sendrecv and MPI_Sendrecv_replace.
 */
#include "calls/sendrecv.h"

#include <stdlib.h>

#include "base/report.h"
#include "engine/engine.h"
#include "speculation/speculation.h"

/* Takes back the receive, which is already posted, because the send cannot be started: MPI_Sendrecv would have done
 * neither. */
static int withdraw(MPI_Request* receive, int send_error, const MpiCall* call) {
  next_mpi.cancel(receive);
  engine_complete(receive, MPI_STATUS_IGNORE, call);
  return send_error;
}

/* For a call in a speculation scope. Completes the receive first: the thread that stops the scope waits for the
 * receive, and the send waits for the stop. */
static int complete_in_scope(MPI_Request* send, MPI_Request* receive, int source, MPI_Status* status,
                             const MpiCall* call) {
  MpiCall rest = *call;
  rest.scope = NULL; /* the send is not to be cancelled */
  speculation_count_send(call->scope, call->peer);
  const int receive_error = speculation_complete_receive(MPI_SUCCESS, receive, source, status, call);
  const int send_error = engine_complete(send, MPI_STATUS_IGNORE, &rest);
  return receive_error != MPI_SUCCESS ? receive_error : send_error;
}

int sendrecv_complete(int sent, MPI_Request* send, MPI_Request* receive, int source, MPI_Status* status,
                      const MpiCall* call) {
  if (sent != MPI_SUCCESS) {
    if (call->scope != NULL) speculation_leave(call->scope);
    return withdraw(receive, sent, call);
  }
  if (call->scope != NULL) return complete_in_scope(send, receive, source, status, call);
  /* Completes both, even if the first one fails: no request may stay open. */
  const int send_error = engine_complete(send, MPI_STATUS_IGNORE, call);
  const int receive_error = engine_complete(receive, status, call);
  return receive_error != MPI_SUCCESS ? receive_error : send_error;
}

void* sendrecv_buffer(size_t bytes) {
  void* buffer = malloc(bytes > 0 ? bytes : 1);
  if (buffer == NULL) report_fatal("MPI_Sendrecv_replace in a task: no memory for the %zu bytes that it sends", bytes);
  return buffer;
}
