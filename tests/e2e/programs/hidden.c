/* SPDX-License-Identifier: Apache-2.0
 *
 * Two threads that run for ever. With "hidden" its user may not trace the process, as with set-uid programs.
 */
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int count, char** arguments) {
  if (count > 1 && strcmp(arguments[1], "hidden") == 0) prctl(PR_SET_DUMPABLE, 0);
#pragma omp parallel num_threads(2)
  {
#pragma omp barrier
#pragma omp single
    {
      puts("ready");
      fflush(stdout);
    }
    for (;;) pause();
  }
}
