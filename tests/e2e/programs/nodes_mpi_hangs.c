/* SPDX-License-Identifier: Apache-2.0
 *
 * test_nodes_seen.py: two ranks with a worker each. The region of rank 1 waits for a semaphore that is never posted,
 * rank 0 for rank 1. Rank 0 prints the process numbers of both ranks, and of rank 1's worker. */
#include <mpi.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

int main(int count, char** arguments) {
  int rank, own[2] = {(int)getpid(), 0}, all[4];
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp target map(from : own[1 : 1])
  own[1] = (int)getpid();
  MPI_Gather(own, 2, MPI_INT, all, 2, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("pids %d %d %d\n", all[0], all[2], all[3]);
    fflush(stdout);
  }
  if (rank == 1) {
#pragma omp target
    {
      sem_t never;
      sem_init(&never, 0, 0);
      sem_wait(&never);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
