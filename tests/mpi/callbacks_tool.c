/* SPDX-License-Identifier: Apache-2.0
 *
 * A PMPI tool that uses OpenMP in each of its wrappers, for callbacks.c: preloaded before libmarline-mpi, and after it,
 * where polls call some of its wrappers.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void use_tasks(void) {
  int sum = 0;
#pragma omp taskgroup
  for (int i = 0; i < 4; ++i) {
#pragma omp task shared(sum) firstprivate(i) depend(inout : sum)
    sum += i;
  }
  if (sum == 6) return;
  fprintf(stderr, "FAILED: tasks of a tool\n");
  PMPI_Abort(MPI_COMM_WORLD, 1);
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  use_tasks();
  return PMPI_Test(request, flag, status);
}

int MPI_Testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  use_tasks();
  return PMPI_Testany(count, requests, index, flag, status);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  use_tasks();
  return PMPI_Wait(request, status);
}

int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  use_tasks();
  return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  use_tasks();
  return PMPI_Comm_dup(comm, made);
}
