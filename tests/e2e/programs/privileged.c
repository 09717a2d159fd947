/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that may have rights that its user does not have (a set-gid file). It uses all that reads the environment:
 * threads, tasks, a target region, with MPI if built with USE_MPI. PRETEND: the C library says that it has such rights.
 * Prints whether it has, how many threads it has, and how many devices.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#ifdef USE_MPI
#include <mpi.h>
#endif

#ifdef PRETEND
unsigned long getauxval(unsigned long kind) { return kind == AT_SECURE; }
#endif

int main(int count, char** arguments) {
#ifdef USE_MPI
  MPI_Init(&count, &arguments);
#endif
  int threads = 0, tasks = 0, there = 0;
#pragma omp parallel
#pragma omp single
  {
    threads = omp_get_num_threads();
    for (int i = 0; i < 20; ++i)
#pragma omp task shared(tasks)
#pragma omp atomic
      tasks++;
  }
#pragma omp target map(from : there)
  there = 1;
  omp_free(omp_alloc(64, omp_high_bw_mem_alloc), omp_high_bw_mem_alloc);
#ifdef USE_MPI
  MPI_Finalize();
#endif
  const int right = tasks == 20 && there == 1 && count > 0 && arguments != NULL;
  printf("secure=%lu threads=%d devices=%d right=%d\n", getauxval(AT_SECURE), threads, omp_get_num_devices(), right);
  return 0;
}
