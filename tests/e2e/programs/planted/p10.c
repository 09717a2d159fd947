// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>
#include <time.h>

static void spend(int microseconds) {
  struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000L};
  while (nanosleep(&time, &time) != 0) {
  }
}

static double blocks[32];

__attribute__((noinline)) static void step(int count) {
  for (int b = 0; b < count; ++b) {
#pragma omp task depend(inout : blocks[b])
    {
      spend(12000);
      blocks[b] += 1;
    }
  }
}

int main(int count, char** words) {
  int rank, provided;
  double sum = 0;
  MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 2; ++i) {
#pragma omp parallel
#pragma omp single
    step(rank == 0 ? 16 : 5);
    MPI_Allreduce(blocks, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  return MPI_Finalize();
}
