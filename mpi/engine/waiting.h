/* SPDX-License-Identifier: Apache-2.0
 *
 * Describes a blocked call for Marline (marline_wait_t). The values are, in this order, peer (rank in the communicator;
 * -1 any, -2 none), tag (-1 any, -2 none), comm (the identity of comm.h; 0 none), bytes, and requests (how many were
 * open when it began to wait). The ids are the requests' handles (requests.h). Made on the stack of the call; any
 * thread.
 */
#ifndef MARLINE_MPI_WAITING_H
#define MARLINE_MPI_WAITING_H

#include <stddef.h>

#include "base/call.h"
#include "comm/comm.h"
#include "marline/marline.h"

extern __attribute__((visibility("hidden"))) const char* const waiting_names[];

/* For a call with arguments that MPI has accepted: asks MPI about a communicator and a datatype that are not known
 * yet. */
marline_wait_t waiting_in(const MpiCall* call);

/* MPI_ANY_SOURCE becomes -1; no peer, MPI_PROC_NULL and MPI_ROOT become -2. */
static inline int64_t waiting_peer(const MpiCall* call) {
  if (call->peer == MPI_ANY_SOURCE) return -1;
  return call->peer >= 0 ? call->peer : -2;
}

static inline int64_t waiting_tag(const MpiCall* call) {
  if (call->tag == kNoTag) return -2;
  return call->tag == MPI_ANY_TAG ? -1 : call->tag;
}

/* For any call: leaves out what only MPI could say. Inline, because every blocking call outside of tasks makes one: the
 * compiler then writes the record from the call's arguments, without a MpiCall. */
static inline __attribute__((always_inline)) marline_wait_t waiting_in_unchecked(const MpiCall* call) {
  return (marline_wait_t){
      .operation = call->name,
      .names = waiting_names,
      .values = {waiting_peer(call), waiting_tag(call), (int64_t)comm_identity_quick(call->comm), 0, call->requests},
      .ids = call->given,
      .id_count = call->given_count,
      .id_bytes = sizeof(MPI_Request)};
}

/* Stands before a call that blocks its thread, and lasts to the end of the block: `marline ps` shows the call. An
 * error handler's C++ exception may leave the block. */
#define BLOCKED_IN(...)                                                                                        \
  __attribute__((cleanup(blocked_end))) const marline_wait_t blocked_wait = waiting_in_unchecked(__VA_ARGS__); \
  marline_block_begin(&blocked_wait)

static inline void blocked_end(const marline_wait_t* wait) {
  (void)wait;
  marline_block_end();
}

/* How many requests are not null. */
int waiting_requests(int count, const MPI_Request* requests);

#endif
