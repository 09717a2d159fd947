/* SPDX-License-Identifier: Apache-2.0
 *
 * A PMPI tool of the textbook kind. Preloaded before libmarline-mpi it must see every call of the program once; linked
 * to the program or preloaded after libmarline-mpi, every call of libmarline-mpi. At the end it uses MPI itself.
 */
#include <mpi.h>
#include <stdio.h>

static int starts;
static int receives; /* these are atomic: the program's tasks call from several threads */
static int barriers;
static int nonblocking;
static int splits;

int MPI_Init(int* argc, char*** argv) {
  ++starts;
  return PMPI_Init(argc, argv);
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  ++starts;
  return PMPI_Init_thread(argc, argv, required, provided);
}

int MPI_Recv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  __atomic_add_fetch(&receives, 1, __ATOMIC_RELAXED);
  return PMPI_Recv(buffer, count, type, source, tag, comm, status);
}

int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
  __atomic_add_fetch(&nonblocking, 1, __ATOMIC_RELAXED);
  return PMPI_Irecv(buffer, count, type, source, tag, comm, request);
}

int MPI_Barrier(MPI_Comm comm) {
  __atomic_add_fetch(&barriers, 1, __ATOMIC_RELAXED);
  return PMPI_Barrier(comm);
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  __atomic_add_fetch(&nonblocking, 1, __ATOMIC_RELAXED);
  return PMPI_Ibarrier(comm, request);
}

/* Made by a helper thread when it comes from a task. */
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  __atomic_add_fetch(&splits, 1, __ATOMIC_RELAXED);
  return PMPI_Comm_split(comm, color, key, made);
}

int MPI_Finalize(void) {
  int all = 0;
  PMPI_Allreduce(&starts, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  PMPI_Barrier(MPI_COMM_WORLD);
  printf("tool: %d receives, %d barriers\n", receives, barriers);
  printf("tool: %d nonblocking, %d splits, %d ranks\n", nonblocking, splits, all);
  fflush(stdout);
  return PMPI_Finalize();
}
