// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>
#include <time.h>

static void spend(int microseconds) {
  struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000L};
  while (nanosleep(&time, &time) != 0) {
  }
}

static void step(void) { spend(20000); }
static void combine(void) { spend(160000); }

int main(int count, char** words) {
  int rank;
  double value = 1, sum = 0;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 8; ++i) {
    step();
    if (i == 3 && rank == 1) combine();
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  return MPI_Finalize();
}
