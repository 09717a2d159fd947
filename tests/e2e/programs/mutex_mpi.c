/* SPDX-License-Identifier: Apache-2.0
 *
 * A task of rank 1 receives, under a mutex if there is an argument, what rank 0 sends only when another task of rank 1
 * has asked for it: so the receive suspends the task, on one thread.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void receive(int locked, int* started) {
  int got;
  if (locked) pthread_mutex_lock(&mutex); /* here: lock */
  *started = 1;
  MPI_Recv(&got, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* here: receive */
  if (locked) pthread_mutex_unlock(&mutex);
}

static void answer(void) {
  int got;
  MPI_Recv(&got, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(&got, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
}

static void ask(int locked) {
  int started = 0;
#pragma omp parallel num_threads(1)
#pragma omp single
  {
#pragma omp task shared(started)
    receive(locked, &started);
#pragma omp task shared(started)
    {
      while (!started) {
#pragma omp taskyield
      }
      MPI_Send(&started, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
  }
}

int main(int argc, char** argv) {
  int level, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
#pragma omp parallel num_threads(1)
    answer();
  } else {
    ask(argc > 1);
  }
  MPI_Finalize();
  puts("done");
  return 0;
}
