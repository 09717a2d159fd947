/* SPDX-License-Identifier: Apache-2.0
 *
 * Two threads, and tasks that wait for device 1: a region that is suspended, two that are put aside, and a copy. The
 * first region stops the whole process of the device, which otherwise takes copies while its threads run kernels.
 * Prints its process number, then waits. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#pragma omp declare target
char table[4096];
#pragma omp end declare target

int main(void) {
  int ready = 0;
#pragma omp target map(tofrom : ready) device(1)
  ready = table[0] + 1;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task
    {
#pragma omp target device(1)
      for (;;) raise(SIGSTOP);
    }
    for (int t = 0; t < 2; t++) {
#pragma omp target device(1) nowait
      for (;;) raise(SIGSTOP);
    }
    usleep(300000);
#pragma omp task
    {
#pragma omp target update to(table) device(1)
    }
    usleep(100000);
    printf("rank 0: pid %d\n", (int)getpid() * ready);
    fflush(stdout);
  }
  return 0;
}
