/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI_Wait. In a task, a suspension until the request is complete; a null or inactive request is complete at once.
 */
#include "engine/engine.h"
#include "engine/waiting.h"

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  PASS_ON_FROM_TOOL(wait(request, status));
  const MpiCall call = {.name = "MPI_Wait",
                        .caller = __builtin_return_address(0),
                        .peer = kNoPeer,
                        .tag = kNoTag,
                        .requests = 1,
                        .given = request,
                        .given_count = 1};
  if (!engine_takes(__builtin_return_address(0))) {
    BLOCKED_IN(&call);
    return next_mpi.wait(request, status);
  }
  return engine_complete(request, status, &call);
}

extern __typeof__(MPI_Wait) PMPI_Wait __attribute__((alias("MPI_Wait")));
