/* SPDX-License-Identifier: Apache-2.0
 *
 * Builds the description of a wait from a call's arguments.
 */
#include "engine/waiting.h"

#include <stddef.h>

#include "comm/comm.h"

enum { kAny = -1, kNone = -2 };

static const char* const kNames[] = {"peer", "tag", "comm", "bytes", "requests", NULL};

static int64_t peer_of(const MpiCall* call) {
  if (call->peer == MPI_ANY_SOURCE) return kAny;
  return call->peer >= 0 ? call->peer : kNone; /* also MPI_PROC_NULL, MPI_ROOT */
}

static int64_t tag_of(const MpiCall* call) {
  if (call->tag == kNoTag) return kNone;
  return call->tag == MPI_ANY_TAG ? kAny : call->tag;
}

marline_wait_t waiting_in_unchecked(const MpiCall* call) {
  const int64_t comm = (int64_t)comm_identity(call->comm);
  return (marline_wait_t){.operation = call->name,
                          .names = kNames,
                          .values = {peer_of(call), tag_of(call), comm, 0, call->requests},
                          .ids = call->given,
                          .id_count = call->given_count,
                          .id_bytes = sizeof(MPI_Request)};
}

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
