/* SPDX-License-Identifier: Apache-2.0
 *
 * test_nodes_seen.py: regions on device 1 that wait for a semaphore which is never posted. With no more threads than
 * regions, at least one runs; the others wait for a thread. Prints the program's and its workers' process numbers. */
#include <omp.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

enum { kRegions = 3 };

int main(void) {
  int workers[2] = {0, 0};
  for (int d = 0; d < 2; d++) {
#pragma omp target device(d) map(from : workers[d : 1])
    workers[d] = getpid();
  }
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < kRegions; i++) {
#pragma omp target device(1) nowait
      {
        sem_t never;
        sem_init(&never, 0, 0);
        sem_wait(&never);
      }
    }
    printf("pids %d %d %d\n", (int)getpid(), workers[0], workers[1]);
    fflush(stdout);
  }
  return 0;
}
