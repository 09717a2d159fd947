/* SPDX-License-Identifier: Apache-2.0
 *
 * Outside of parallel regions, the program waits for a kernel that does not end. Prints its process number before. */
#include <stdio.h>
#include <unistd.h>

int main(void) {
  int ready = 0;
#pragma omp target map(tofrom : ready)
  ready = 1;
  printf("rank 0: pid %d\n", (int)getpid() * ready);
  fflush(stdout);
#pragma omp target
  for (;;) sleep(1000);
  return 0;
}
