/* SPDX-License-Identifier: Apache-2.0
 *
 * Describes a blocked call for Marline (marline_wait_t). The values are, in this order, peer (rank in the communicator;
 * -1 any, -2 none), tag (-1 any, -2 none), comm (the identity of comm.h; 0 none), bytes, and requests (how many were
 * open when it began to wait). The ids are the requests' handles (requests.h). Made on the stack of the call; any
 * thread.
 */
#ifndef MARLINE_MPI_WAITING_H
#define MARLINE_MPI_WAITING_H

#include "base/call.h"
#include "marline/marline.h"

/* For a call with arguments that MPI has accepted: asks MPI about a communicator and a datatype that are not known
 * yet. */
marline_wait_t waiting_in(const MpiCall* call);

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

/* For any call: leaves out what only MPI could say. Takes a few nanoseconds. */
marline_wait_t waiting_in_unchecked(const MpiCall* call);

#endif
