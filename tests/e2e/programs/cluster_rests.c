/* SPDX-License-Identifier: Apache-2.0
 *
 * How often the first thread of a node's process is woken while a region sleeps for half a second, and no other process
 * has a message for the node. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#pragma omp declare target
static long switches(void) {
  char line[128];
  long count = -1;
  FILE* file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (!strncmp(line, "voluntary_ctxt_switches:", 24)) sscanf(line + 24, "%ld", &count);
  if (file) fclose(file);
  return count;
}
#pragma omp end declare target

int main(void) {
  long before = 0, woken = -1;
  for (int i = 0; i < 2; ++i) { /* the first one may be waited for in other ways */
#pragma omp target nowait depend(inout : before) map(tofrom : before, woken)
    {
      before = switches();
      usleep(500 * 1000);
      woken = switches() - before;
    }
#pragma omp taskwait
  }
  printf("woken=%ld\n", woken);
  return 0;
}
