/* SPDX-License-Identifier: Apache-2.0
 *
 * Each MPI rank opens a parallel region and says so; `ranks exit N` makes the last rank end with status N, `ranks sleep`
 * waits for one signal on each rank and counts how often it came.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t signals;

static void count_signal(int number) {
  (void)number;
  ++signals;
}

int main(int argc, char **argv) {
  int rank, size, threads = 0;
  signal(SIGUSR1, count_signal);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
#pragma omp parallel
  {
#pragma omp atomic
    ++threads;
  }
  printf("rank=%d size=%d threads=%d\n", rank, size, threads);
  fflush(stdout);
  if (argc > 1 && strcmp(argv[1], "sleep") == 0) {
    while (signals == 0) usleep(10000);
    usleep(300000); /* a signal sent twice arrives within this */
    printf("rank=%d signals=%d\n", rank, (int)signals);
  }
  MPI_Finalize();
  return argc > 2 && strcmp(argv[1], "exit") == 0 && rank == size - 1 ? atoi(argv[2]) : 0;
}
