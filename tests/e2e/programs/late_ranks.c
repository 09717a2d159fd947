// SPDX-License-Identifier: Apache-2.0
//
// tests/e2e/report/test_loops.py: MPI alone. In each step rank 1 sends 30 ms after rank 0 has asked for the message,
// and rank 0 comes to the reduction 10 ms after rank 1.
#include <mpi.h>
#include <time.h>

static void work(int milliseconds) {
  struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
  while (nanosleep(&time, &time) != 0) {
  }
}

int main(int count, char** words) {
  int rank, value = 0, sum;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int step = 0; step < 4; ++step) {
    if (rank == 1) work(30);
    if (rank == 1) MPI_Send(&value, 1, MPI_INT, 0, step, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(&value, 1, MPI_INT, 1, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0) work(10);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  return MPI_Finalize();
}
