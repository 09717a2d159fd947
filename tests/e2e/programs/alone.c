/* SPDX-License-Identifier: Apache-2.0
 *
 * One thread, which says its number in a parallel region: for ever there, or with an argument, in a task that waits for
 * an event.
 */
#include <marline/marline.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  (void)argv;
  marline_event_t event;
  marline_event_init(&event);
#pragma omp parallel num_threads(1)
  {
    printf("alone %d\n", (int)getpid());
    fflush(stdout);
    if (argc == 1) pause();
#pragma omp task
    marline_event_wait(&event);
  }
  return 0;
}
