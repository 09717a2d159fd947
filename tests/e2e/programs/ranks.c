/* SPDX-License-Identifier: Apache-2.0
 *
 * Each MPI rank opens a parallel region and says so; `ranks exit N` makes the last rank end with status N, `ranks kill
 * N` by signal N while the others wait for it in a task, `ranks abort N` by MPI_Abort in a task; `ranks sleep` waits
 * for one signal on each rank and counts how often it came.
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

static void end_early(const char* how, int number, int is_last) {
#pragma omp parallel
#pragma omp master
#pragma omp task
  if (is_last && strcmp(how, "kill") == 0)
    raise(number);
  else if (is_last)
    MPI_Abort(MPI_COMM_WORLD, number);
  else
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
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
  if (argc > 2 && strcmp(argv[1], "exit") != 0) end_early(argv[1], atoi(argv[2]), rank == size - 1);
  MPI_Finalize();
  return argc > 2 && strcmp(argv[1], "exit") == 0 && rank == size - 1 ? atoi(argv[2]) : 0;
}
