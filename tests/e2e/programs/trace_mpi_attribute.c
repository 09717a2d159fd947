// SPDX-License-Identifier: Apache-2.0
//
// An attribute of MPI_COMM_WORLD with a copy function that counts its calls. The program duplicates the communicator
// once; what the recorder does with the communicator when MPI ends must not call the copy function again.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int copied;

static int copy(MPI_Comm comm, int key, void* extra, void* value, void* result, int* flag) {
  (void)comm, (void)key, (void)extra, (void)value, (void)result;
  ++copied;
  *flag = 0;
  return MPI_SUCCESS;
}

int main(void) {
  MPI_Init(NULL, NULL);
  int key, rank;
  MPI_Comm duplicate;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
  MPI_Comm_free(&duplicate);
  MPI_Finalize();
  if (rank == 0) printf("copied %d\n", copied);
  return EXIT_SUCCESS;
}
