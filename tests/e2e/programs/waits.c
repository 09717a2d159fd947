/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints its process number when a task waits for an event that is never fulfilled. */
#include <marline/marline.h>
#include <stdio.h>
#include <unistd.h>

static marline_event_t event;

__attribute__((noinline)) static void waits_here(volatile int kept) {
  marline_event_wait(&event);
  ++kept;
}

int main(void) {
#pragma omp parallel
#pragma omp single
  {
    marline_event_init(&event);
#pragma omp task
    waits_here(1);
    usleep(100000);
    printf("%d\n", (int)getpid());
    fflush(stdout);
  }
  return 0;
}
