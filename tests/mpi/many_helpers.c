/* SPDX-License-Identifier: Apache-2.0
 *
 * Many calls without a nonblocking twin at a time, each on a communicator of its own. `crossed`: rank 0 makes all of
 * them before rank 1 makes any, in the opposite order, so none may wait for another of the same rank. `same`: rank 1
 * makes them in the same order, so some may wait. `together`: the same order, but each rank makes them at any time, so
 * calls may also hold their thread.
 *
 * Usage: many_helpers CALLS crossed|same|together
 */
#include <string.h>

#include "support.h"

static int calls;
static int crossed;
static int together;
static MPI_Comm* comms;
static int begun;
static int ended;

static void split(int i) {
  MPI_Comm none = comms[i];
#pragma omp atomic
  ++begun;
  expect(MPI_Comm_split(comms[i], MPI_UNDEFINED, 0, &none) == MPI_SUCCESS, "MPI_Comm_split");
  expect(none == MPI_COMM_NULL, "which makes no communicator");
#pragma omp atomic
  ++ended;
}

static int all_begun(void) {
  int now;
#pragma omp atomic read
  now = begun;
  return now == calls;
}

static void split_all(void) {
  if (world_rank == 1 && !together) MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int n = 0; n < calls; ++n) {
    const int i = world_rank == 1 && crossed ? calls - 1 - n : n;
#pragma omp task firstprivate(i)
    split(i);
  }
  while (!together && !all_begun()) {
#pragma omp taskyield
  }
  if (world_rank == 0 && !together) MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  start(&argc, &argv, 2);
  expect(argc == 3, "usage: many_helpers CALLS crossed|same|together");
  calls = atoi(argv[1]);
  crossed = strcmp(argv[2], "crossed") == 0;
  together = strcmp(argv[2], "together") == 0;
  comms = malloc((size_t)calls * sizeof *comms);
  expect(comms != NULL, "memory");
  for (int i = 0; i < calls; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
#pragma omp parallel num_threads(1)
#pragma omp single
  {
#pragma omp task /* a task of its own, because it suspends */
    split_all();
  }
  expect(ended == calls, "every call has ended");
  for (int i = 0; i < calls; ++i) MPI_Comm_free(&comms[i]);
  free(comms);
  return finish();
}
