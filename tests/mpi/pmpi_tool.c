/* SPDX-License-Identifier: Apache-2.0
 *
 * A PMPI tool of the textbook kind, preloaded in front of libmarline-mpi: it must see every call of the program's,
 * once.
 */
#include <mpi.h>
#include <stdio.h>

static int receives; /* atomic: the program's tasks call from several threads */
static int barriers;

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
  __atomic_add_fetch(&receives, 1, __ATOMIC_RELAXED);
  return PMPI_Recv(buffer, count, type, source, tag, comm, status);
}

int MPI_Barrier(MPI_Comm comm)
{
  __atomic_add_fetch(&barriers, 1, __ATOMIC_RELAXED);
  return PMPI_Barrier(comm);
}

int MPI_Finalize(void)
{
  printf("tool: %d receives, %d barriers\n", receives, barriers);
  fflush(stdout);
  return PMPI_Finalize();
}
