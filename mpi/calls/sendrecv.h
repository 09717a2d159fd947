/* SPDX-License-Identifier: Apache-2.0
 *
 * The common part of MPI_Sendrecv and MPI_Sendrecv_replace in a task: MPI_Irecv and MPI_Isend, each completed with a
 * suspension if need be.
 */
#ifndef MARLINE_MPI_SENDRECV_H
#define MARLINE_MPI_SENDRECV_H

#include <stddef.h>

#include "base/call.h"

/* The receive, from `source`, is posted; `sent` is the result of starting the send. Completes both, or cancels the
 * receive if the send has failed; in a scope, leaves the scope. Returns what the call returns. */
int sendrecv_complete(int sent, MPI_Request* send, MPI_Request* receive, int source, MPI_Status* status,
                      const MpiCall* call);

/* Memory for the packed message of MPI_Sendrecv_replace; the caller frees it. Ends the process if there is none. */
void* sendrecv_buffer(size_t bytes);

#endif
