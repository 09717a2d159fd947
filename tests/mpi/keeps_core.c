/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread that has tasks to run does not give its core away between them, although Open MPI does so in each call that
 * finds nothing if there are more ranks than cores: rank 0 runs 100,000 tasks while another task waits for a message.
 */
#include <omp.h>
#include <sys/syscall.h>

#include "support.h"

static int yields;

int sched_yield(void) {
  __atomic_fetch_add(&yields, 1, __ATOMIC_RELAXED);
  return (int)syscall(SYS_sched_yield);
}

enum { kTasks = 100000 };

static void work(void) {
  static int done; /* by one thread */
  int word = 0, waits = 0;
#pragma omp task shared(word, waits)
  {
    waits = 1;
    MPI_Recv(&word, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
#pragma omp taskyield
  expect(waits, "the task waits");
  const int before = __atomic_load_n(&yields, __ATOMIC_RELAXED);
#pragma omp taskgroup
  for (int i = 0; i < kTasks; ++i) {
#pragma omp task
    ++done;
  }
  const int given_away = __atomic_load_n(&yields, __ATOMIC_RELAXED) - before;
  if (given_away > 0) fprintf(stderr, "the core was given away %d times\n", given_away);
  expect(given_away == 0, "the core was kept");
  MPI_Send(&word, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
#pragma omp taskwait
  expect(word == 7 && done == kTasks, "the message and the tasks");
}

int main(int argc, char** argv) {
  start(&argc, &argv, 2);
  if (world_rank == 0) {
#pragma omp parallel num_threads(1)
#pragma omp single
    work();
  } else {
    int word = 7;
    MPI_Recv(&(int){0}, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
  }
  return finish();
}
