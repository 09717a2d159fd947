/* SPDX-License-Identifier: Apache-2.0
 *
 * Builds the description of a wait from a call's arguments.
 */
#include "engine/waiting.h"

#include <stddef.h>

const char* const waiting_names[] = {"peer", "tag", "comm", "bytes", "requests", NULL};

marline_wait_t waiting_in(const MpiCall* call) {
  marline_wait_t wait = waiting_in_unchecked(call);
  if (wait.values[2] == 0) wait.values[2] = (int64_t)comm_identify(call->comm);
  int size = 0;
  if (call->datatype != (MPI_Datatype)0 && next_mpi.type_size(call->datatype, &size) == MPI_SUCCESS)
    wait.values[3] = (int64_t)call->count * size;
  return wait;
}

int waiting_requests(int count, const MPI_Request* requests) {
  const MPI_Request null = MPI_REQUEST_NULL;
  int open = 0;
  for (int i = 0; i < count; ++i) open += requests[i] != null;
  return open;
}
