// SPDX-License-Identifier: Apache-2.0
//
// test_nodes_mpi.py: ranks that use devices before MPI_Init, between and after MPI_Finalize.
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

// What the devices add up to: 10 times their number if all are other processes.
static int ask_devices(void) {
  int sum = 0;
  for (int d = 0; d < omp_get_num_devices(); ++d) {
    int value = 0, process = 0;
#pragma omp target device(d) map(from : value, process)
    {
      value = 10;
      process = getpid();
    }
    sum += process != getpid() ? value : 1000;
  }
  return sum;
}

int main(int count, char** arguments) {
  int rank, size, given, neighbour = -1;
  int before = ask_devices();
  MPI_Init_thread(&count, &arguments, MPI_THREAD_MULTIPLE, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int between = ask_devices();
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &neighbour, 1, MPI_INT, (rank + size - 1) % size, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  printf("rank %d of %d from %d devices %d %d %d\n", rank, size, neighbour, before, between, ask_devices());
  return 0;
}
