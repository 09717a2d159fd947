/* SPDX-License-Identifier: Apache-2.0
 *
 * A process of a job on several nodes, as `marline ps` sees it: two threads, and a relay for the secret that is given.
 * Says the relay's port. At each line of standard input it forks a child that waits for ever, and says its number.
 */
#include <marline/marline.h>
#include <stdio.h>
#include <unistd.h>

int main(int count, char** arguments) {
  (void)count;
#pragma omp parallel num_threads(2)
  {
#pragma omp barrier
  }
  printf("%d\n", marline_describe_relay(arguments[1]));
  fflush(stdout);
  while (getchar() != EOF) {
    const pid_t child = fork();
    if (child == 0)
      for (;;) pause();
    printf("%d\n", (int)child);
    fflush(stdout);
  }
  return 0;
}
