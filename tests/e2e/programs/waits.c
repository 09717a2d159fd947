/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints its process number and waits for a task that is never completed.
 */
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
#pragma omp parallel
#pragma omp single
  {
    omp_event_handle_t never;
#pragma omp task detach(never) /* not empty: GCC leaves an empty one out */
    {
      printf("%d\n", (int)getpid());
      fflush(stdout);
    }
#pragma omp taskwait
  }
  return 0;
}
