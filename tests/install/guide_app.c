/* SPDX-License-Identifier: Apache-2.0
 *
 * `./app` and `./mpi_app` of the guide, for test_guide.py: each rank sends its number around a ring by tasks, and adds
 * it up on each of its devices. `app hang`: the tags of sends and receives differ.
 */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  int rank, size, provided, left = -1, sum = 0, tag = argc > 1 && strcmp(argv[1], "hang") == 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

#pragma omp parallel
#pragma omp single
  {
#pragma omp task untied depend(out : left)
    MPI_Recv(&left, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp task untied
    MPI_Ssend(&rank, 1, MPI_INT, (rank + 1) % size, tag, MPI_COMM_WORLD);
  }

  for (int device = 0; device < omp_get_num_devices(); ++device) {
#pragma omp target device(device) map(tofrom : sum)
    sum += rank;
  }
  printf("rank %d of %d, after %d: %d on %d devices\n", rank, size, left, sum, omp_get_num_devices());
  MPI_Finalize();
  return left == (rank + size - 1) % size && sum == rank * omp_get_num_devices() ? 0 : 1;
}
