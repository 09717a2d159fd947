/* SPDX-License-Identifier: Apache-2.0
 *
 * Each worker of each rank says where it may run: "rank R thread T cpus 0,1". Without MPI_PROGRAM, one process without
 * MPI.
 */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#ifdef MPI_PROGRAM
#include <mpi.h>
#endif

static void say(int rank) {
  cpu_set_t set;
  char text[4096];
  int used = snprintf(text, sizeof text, "rank %d thread %d cpus", rank, omp_get_thread_num());
  char separator = ' ';
  sched_getaffinity(0, sizeof set, &set);
  for (int cpu = 0; cpu < CPU_SETSIZE && used < (int)sizeof text - 8; ++cpu) {
    if (!CPU_ISSET(cpu, &set)) continue;
    used += snprintf(text + used, sizeof text - (size_t)used, "%c%d", separator, cpu);
    separator = ',';
  }
  printf("%s\n", text);
}

int main(int argc, char** argv) {
  int rank = 0;
  (void)argc, (void)argv;
#ifdef MPI_PROGRAM
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#endif
#pragma omp parallel
#pragma omp critical
  say(rank);
  fflush(stdout);
#ifdef MPI_PROGRAM
  MPI_Finalize();
#endif
  return 0;
}
