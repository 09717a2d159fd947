/* SPDX-License-Identifier: Apache-2.0
 *
 * Iterations of a persistent graph with two regions that take part in a reduction, and each of which waits for the
 * other one, for ten seconds at most. Prints how many have met. For one node of two threads. */
#include <marline/marline.h>
#include <stdio.h>
#include <unistd.h>

enum { kSteps = 5, kTogether = 2 };

#pragma omp declare target
static int g_started; /* each node has its own */

static int meets(int step) {
  int started;
#pragma omp atomic
  g_started++;
  for (int i = 0; i < 10000; i++) {
#pragma omp atomic read
    started = g_started;
    if (started >= kTogether * (step + 1)) return 1;
    usleep(1000);
  }
  return 0;
}
#pragma omp end declare target

int main(void) {
  long met = 0;
#pragma omp target /* regions are sent ahead to a device that has been started */
  {
  }
#pragma omp parallel
#pragma omp single
  MARLINE_GRAPH_FOR(int step = 0, step < kSteps, ++step, MARLINE_GRAPH_BARRIER) {
    long both = 0;
#pragma omp taskgroup task_reduction(+ : both)
    for (int i = 0; i < kTogether; i++) {
#pragma omp target nowait in_reduction(+ : both) firstprivate(step)
      both += meets(step);
    }
    met += both;
  }
  printf("met=%ld\n", met);
  return 0;
}
