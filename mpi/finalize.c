/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI_Finalize: the engine makes its last call before MPI ends.
 */
#include "engine.h"
#include "mpi_library.h"

int MPI_Finalize(void)
{
  library_resolve();
  engine_stop();
  return next_mpi.finalize();
}

extern __typeof__(MPI_Finalize) PMPI_Finalize __attribute__((alias("MPI_Finalize")));
