// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>
#include <time.h>

static void spend(int microseconds) {
  struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000L};
  while (nanosleep(&time, &time) != 0) {
  }
}

static double mine[64], theirs[64];

static void step(void) { spend(10000); }
static void relax(int microseconds) { spend(microseconds); }
static void combine(void) { spend(20000); }

int main(int count, char** words) {
  int rank;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Sendrecv(mine, 64, MPI_DOUBLE, 1 - rank, 99, theirs, 64, MPI_DOUBLE, 1 - rank, 99, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 7; ++i) {
    if (rank == 0) {
      step();
      relax(30000);
      MPI_Send(mine, 64, MPI_DOUBLE, 1, i, MPI_COMM_WORLD);
      MPI_Recv(theirs, 64, MPI_DOUBLE, 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(theirs, 64, MPI_DOUBLE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      combine();
      MPI_Send(mine, 64, MPI_DOUBLE, 0, i, MPI_COMM_WORLD);
      relax(20000);
    }
  }
  return MPI_Finalize();
}
