/* SPDX-License-Identifier: Apache-2.0
 *
 * The thread level under Marline: raised for MPI_Init and for every MPI_Init_thread, and the program is told so.
 *
 * Usage: thread_level init | single | funneled | multiple
 */
#include <string.h>

#include "support.h"

int main(int argc, char **argv)
{
  const char *how = argc > 1 ? argv[1] : "";
  int provided = -1;
  if (strcmp(how, "single") == 0)
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
  else if (strcmp(how, "funneled") == 0)
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
  else if (strcmp(how, "multiple") == 0)
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  else
    MPI_Init(&argc, &argv);
  int level = -1;
  int is_main = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Query_thread(&level);
  MPI_Is_thread_main(&is_main);
  expect(level == MPI_THREAD_MULTIPLE, "MPI_Query_thread says MPI_THREAD_MULTIPLE");
  expect(provided == level || strcmp(how, "init") == 0, "`provided` is what MPI_Query_thread says");
  expect(is_main, "the thread that initialised MPI is the main one");
  int received = 0;
  const int peer = 1 - world_rank;
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < 50; ++i) {
#pragma omp task firstprivate(i)
    {
      int value = -1;
      MPI_Recv(&value, 1, MPI_INT, peer, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      expect(value == i, "the message of a task");
#pragma omp atomic
      ++received;
    }
#pragma omp task firstprivate(i)
    MPI_Send(&i, 1, MPI_INT, peer, i, MPI_COMM_WORLD);
  }
  expect(received == 50, "every task ran");
  return finish();
}
