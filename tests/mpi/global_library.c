/* SPDX-License-Identifier: Apache-2.0
 *
 * A library with a global lock around its MPI calls, as many libraries have. If its caller were suspended inside,
 * another task on the same thread would try the lock that its own thread holds.
 */
#include <mpi.h>
#include <pthread.h>

static pthread_mutex_t global = PTHREAD_MUTEX_INITIALIZER;

int global_exchange(int value, int peer, int tag, MPI_Comm comm);

int global_exchange(int value, int peer, int tag, MPI_Comm comm) {
  int got = -1;
  pthread_mutex_lock(&global);
  MPI_Send(&value, 1, MPI_INT, peer, tag, comm);
  MPI_Recv(&got, 1, MPI_INT, peer, tag, comm, MPI_STATUS_IGNORE);
  MPI_Allreduce(MPI_IN_PLACE, &got, 1, MPI_INT, MPI_MIN, comm);
  pthread_mutex_unlock(&global);
  return got;
}
