/* SPDX-License-Identifier: Apache-2.0
 *
 * Where cores are shared, a rank with tasks that wait for another rank leaves its core to that rank: rank 0 waits for a
 * second, and takes less than half a second of processor time meanwhile, whichever thread polls MPI. It has more
 * threads than cores; with the argument `ranks` it has one thread, and there are more ranks than cores. If there are
 * not, nothing is expected.
 */
#include <omp.h>
#include <sys/resource.h>

#include "support.h"

static double processor_seconds(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return used.ru_utime.tv_sec + used.ru_stime.tv_sec + 1e-6 * (used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

int main(int argc, char** argv) {
  const int of_ranks = argc > 1;
  start(&argc, &argv, of_ranks ? 3 : 2);
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  const int shares = !of_ranks || (world_size > online && omp_get_num_procs() >= online);
  double waited = 0;
  double used = 0;
#pragma omp parallel num_threads(of_ranks ? 1 : 2 * omp_get_num_procs()) if (world_rank == 0)
#pragma omp single
#pragma omp task
  if (world_rank < 2) {
    int word = 7;
    MPI_Send(&word, 1, MPI_INT, 1 - world_rank, 1, MPI_COMM_WORLD);
    MPI_Recv(&word, 1, MPI_INT, 1 - world_rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const double begin = omp_get_wtime();
    const double before = processor_seconds();
    if (world_rank == 0) {
      MPI_Send(&word, 1, MPI_INT, 1, 2, MPI_COMM_WORLD); /* the second begins after the start of the measured time */
      MPI_Recv(&word, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(&word, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      usleep(1000 * 1000);
      MPI_Send(&word, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    }
    waited = omp_get_wtime() - begin;
    used = processor_seconds() - before;
    expect(word == 7, "the message");
  }
  expect(world_rank != 0 || waited > 0.9, "the wait was one");
  if (world_rank == 0 && shares && used > 0.5) fprintf(stderr, "%.2f s of processor time in %.2f s\n", used, waited);
  expect(world_rank != 0 || !shares || used < 0.5, "the core was left to others");
  return finish();
}
