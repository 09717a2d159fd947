/* SPDX-License-Identifier: Apache-2.0
 *
 * The common part of all converted collectives. MPI does not match a blocking collective with a nonblocking one (MPI
 * 3.1, 5.12), and a rank cannot know whether its peers call from a task. So every call is converted to its nonblocking
 * form, in tasks and outside, on all ranks. Only the MPI library's own calls remain as they are, because they match the
 * library's own calls on the other ranks.
 */
#ifndef MARLINE_MPI_COLLECTIVE_H
#define MARLINE_MPI_COLLECTIVE_H

#include "../pmpi/caller.h"
#include "comm/order.h"
#include "engine/engine.h"
#include "engine/waiting.h"

static inline bool is_converted(const void* return_address) { return caller_of(return_address) != kCallerMpi; }

/* Ends a collective, which was started with the result `started`: suspends in a task, blocks elsewhere. */
static inline int collective_complete(int started, MPI_Request* request, const void* return_address,
                                      const MpiCall* call) {
  if (started != MPI_SUCCESS) return started;
  if (engine_takes(return_address)) return engine_complete(request, MPI_STATUS_IGNORE, call);
  BLOCKED_IN(call);
  return next_mpi.wait(request, MPI_STATUS_IGNORE);
}

#endif
