/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI_Finalize: the engine makes its last MPI call before MPI ends.
 */
#include "base/mpi_library.h"
#include "comm/comm.h"
#include "comm/order.h"
#include "engine/helpers.h"
#include "engine/poller.h"
#include "engine/waiting.h"
#include "inspect/describe.h"

int MPI_Finalize(void) {
  library_resolve();
  PASS_ON_FROM_TOOL(finalize());
  describe_stop();
  poller_stop();
  BLOCKED_IN(&(const MpiCall){.name = "MPI_Finalize", .peer = kNoPeer, .tag = kNoTag});
  order_stop();
  comm_stop();
  const int error = next_mpi.finalize();
  helpers_stop(); /* not earlier: what MPI has attached to these threads must not be destroyed while MPI runs */
  return error;
}

extern __typeof__(MPI_Finalize) PMPI_Finalize __attribute__((alias("MPI_Finalize")));
