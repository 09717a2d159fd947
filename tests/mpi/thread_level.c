/* SPDX-License-Identifier: Apache-2.0
 *
 * The thread level under Marline: raised for MPI_Init and for every MPI_Init_thread, and the program gets the raised
 * level.
 *
 * Usage: thread_level init | single | funneled | serialized | multiple [low]
 *
 * low: the MPI library has no more than MPI_THREAD_FUNNELED. The program gets that level, and works.
 */
#include <omp.h>
#include <string.h>

#include "support.h"

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  const int expected = argc > 2 ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE;
  int provided = -1;
  if (strcmp(how, "single") == 0)
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
  else if (strcmp(how, "funneled") == 0)
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
  else if (strcmp(how, "serialized") == 0)
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  else if (strcmp(how, "multiple") == 0)
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  else
    MPI_Init(&argc, &argv);
  int level = -1;
  int is_main = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Query_thread(&level);
  MPI_Is_thread_main(&is_main);
  expect(level == expected, "MPI_Query_thread says what there is");
  expect(provided == level || strcmp(how, "init") == 0, "`provided` is what MPI_Query_thread says");
  expect(is_main, "the thread that initialised MPI is the main one");
#pragma omp parallel num_threads(2) private(is_main)
  {
    is_main = -1;
    if (omp_get_thread_num() == 1 && expected == MPI_THREAD_MULTIPLE) MPI_Is_thread_main(&is_main);
    expect(is_main <= 0, "another thread is not");
  }
  int received = 0;
  char order; /* sends and receives alternate, so that they meet even if nothing suspends */
  const int peer = 1 - world_rank;
#pragma omp parallel num_threads(expected == MPI_THREAD_MULTIPLE ? 2 : 1)
#pragma omp single
  for (int i = 0; i < 50; ++i) {
#pragma omp task firstprivate(i) depend(inout : order)
    MPI_Send(&i, 1, MPI_INT, peer, i, MPI_COMM_WORLD);
#pragma omp task firstprivate(i) depend(inout : order)
    {
      int value = -1;
      MPI_Recv(&value, 1, MPI_INT, peer, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      expect(value == i, "the message of a task");
#pragma omp atomic
      ++received;
    }
  }
  expect(received == 50, "every task ran");
  return finish();
}
