/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI_Init and MPI_Init_thread: raised to MPI_THREAD_MULTIPLE, since tasks of one program call MPI from several threads
 * and the poller from any. The program learns what it got, which is never less than what it would have got.
 */
#include "comm.h"
#include "engine.h"
#include "mpi_library.h"

static int init(int *argc, char ***argv, int *provided)
{
  library_resolve();
  const int error = next_mpi.init_thread(argc, argv, MPI_THREAD_MULTIPLE, provided);
  if (error == MPI_SUCCESS) {
    comm_start();
    engine_start(*provided);
  }
  return error;
}

int MPI_Init(int *argc, char ***argv)
{
  int provided = MPI_THREAD_SINGLE;
  return init(argc, argv, &provided);
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
  (void)required; /* never more than MPI_THREAD_MULTIPLE */
  return init(argc, argv, provided);
}

extern __typeof__(MPI_Init) PMPI_Init __attribute__((alias("MPI_Init")));
extern __typeof__(MPI_Init_thread) PMPI_Init_thread __attribute__((alias("MPI_Init_thread")));
