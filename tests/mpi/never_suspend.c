/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls from a library that is named in MARLINE_MPI_NEVER_SUSPEND block inside tasks, and its collectives still meet
 * those that the program itself calls on another rank.
 */
#include "support.h"

int global_exchange(int value, int peer, int tag, MPI_Comm comm);

/* The same exchange by the program itself, without a lock. */
static int own_exchange(int value, int peer, int tag, MPI_Comm comm) {
  int got = -1;
  MPI_Send(&value, 1, MPI_INT, peer, tag, comm);
  MPI_Recv(&got, 1, MPI_INT, peer, tag, comm, MPI_STATUS_IGNORE);
  MPI_Allreduce(MPI_IN_PLACE, &got, 1, MPI_INT, MPI_MIN, comm);
  return got;
}

int main(int argc, char** argv) {
  enum { kTasks = 8 };
  MPI_Comm comms[kTasks]; /* the ranks may run their tasks in different orders */
  start(&argc, &argv, 2);
  for (int i = 0; i < kTasks; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
#pragma omp parallel num_threads(1)
#pragma omp single
  for (int i = 0; i < kTasks; ++i) {
#pragma omp task firstprivate(i) shared(comms)
    {
      const int got = world_rank == 0 ? global_exchange(i, 1, i, comms[i]) : own_exchange(i, 0, i, comms[i]);
      expect(got == i, "the value goes round");
    }
  }
  for (int i = 0; i < kTasks; ++i) MPI_Comm_free(&comms[i]);
  return finish();
}
