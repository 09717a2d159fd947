/* SPDX-License-Identifier: Apache-2.0
 *
 * pthread_exit() in main after MPI_Finalize: the process ends, with its exit handlers, though tasks have waited in MPI
 * calls, also in one that a helper thread makes; and if the program has no use for OpenMP ("alone").
 */
#include "support.h"

#include <pthread.h>

enum { kTasks = 8, kSeconds = 100 };

static void handler(void) { printf("rank %d: done\n", world_rank); }

static void wait_in_tasks(void) {
#pragma omp parallel
#pragma omp single
  {
    for (int t = 0; t < kTasks; t++) {
#pragma omp task untied firstprivate(t)
      {
        int got = -1;
        MPI_Recv(&got, 1, MPI_INT, 1 - world_rank, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect(got == t, "the message");
      }
    }
    for (int t = 0; t < kTasks; t++) {
#pragma omp task untied firstprivate(t)
      MPI_Send(&t, 1, MPI_INT, 1 - world_rank, t, MPI_COMM_WORLD);
    }
#pragma omp task untied
    {
      MPI_Comm part;
      MPI_Comm_split(MPI_COMM_WORLD, 0, world_rank, &part); /* has no nonblocking twin */
      MPI_Comm_free(&part);
    }
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv, 2);
  atexit(handler);
  if (argc < 2) wait_in_tasks();
  MPI_Finalize();
  alarm(kSeconds); /* a hanging process ends by a signal */
  pthread_exit(NULL);
}
