/* SPDX-License-Identifier: Apache-2.0
 *
 * A shared library that uses MPI, for a program that loads it when it runs; with -DPROGRAM a program. On one thread,
 * each rank waits for a message which a task that has not begun is to send it: that hangs unless the wait lets other
 * tasks run. With SEND_FIRST in the environment the rank waits for the task first, which hangs nowhere.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int count_threads(void) {
  int rank, size, got = 0, sent = 7;
  MPI_Request request;
  const int send_first = getenv("SEND_FIRST") != NULL;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Irecv(&got, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &request);
#pragma omp parallel num_threads(1)
  {
#pragma omp task shared(sent)
    MPI_Send(&sent, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
    if (send_first) {
#pragma omp taskwait
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  printf("rank=%d size=%d got=%d\n", rank, size, got);
  fflush(stdout);
  MPI_Finalize();
  return 1;
}

#ifdef PROGRAM
int main(void) { return count_threads() != 1; }
#endif
