/* SPDX-License-Identifier: Apache-2.0
 *
 *   speculation_misuse early | later | collective | large | twice
 *
 * A scope reports misuse that it cannot repair. `early`: the task that stops is not ordered after a receive of its
 * iteration, which is cancelled. `later`: a task that the stop does not cancel sends after it. `collective`: a
 * collective that cannot be entered on behalf of another rank. `large`: a collective with more elements than that is
 * possible for. `twice`: two stops.
 */
#include <limits.h>

#include "speculation.h"

static marline_mpi_speculation_t* scope;
static char order;

static void early(void) {
  int value = 0;
#pragma omp task firstprivate(value) depend(out : order)
  MPI_Recv(&value, 1, MPI_INT, 1 - world_rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp task
  {
    let_peer_block();
    marline.stop(scope);
  }
}

static void later(void) {
  int value = 0;
#pragma omp task firstprivate(value) depend(in : order)
  {
#pragma omp taskyield
    let_peer_block();
    MPI_Send(&value, 1, MPI_INT, 1 - world_rank, 1, MPI_COMM_WORLD);
  }
#pragma omp task
  marline.stop(scope);
}

static void collective(void) {
  int sent[2] = {0}, received[2];
#pragma omp task shared(sent, received)
  MPI_Alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, MPI_COMM_WORLD);
#pragma omp taskwait
}

/* The call ends the program before it accesses the buffer. */
static void large(void) {
#if MPI_VERSION >= 4
  char data = 0;
#pragma omp task shared(data)
  MPI_Bcast_c(&data, (MPI_Count)INT_MAX + 1, MPI_CHAR, 0, MPI_COMM_WORLD);
#pragma omp taskwait
#endif
}

static void twice(void) {
#pragma omp task depend(out : order)
  marline.stop(scope);
#pragma omp taskwait
  marline.stop(scope);
}

int main(int argc, char** argv) {
  start(&argc, &argv, 2);
  find_marline();
  const char* how = argc > 1 ? argv[1] : "";
  scope = marline.begin(MPI_COMM_WORLD);
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
  {
    if (strcmp(how, "early") == 0)
      early();
    else if (strcmp(how, "later") == 0)
      later();
    else if (strcmp(how, "collective") == 0)
      collective();
    else if (strcmp(how, "large") == 0)
      large();
    else
      twice();
  }
  marline.end(scope, NULL);
  return finish();
}
