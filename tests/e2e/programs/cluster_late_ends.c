/* SPDX-License-Identifier: Apache-2.0
 *
 * Usage: cluster_late_ends FILE MICROSECONDS. Three threads and one node of one thread. A thread waits for a group in
 * which another one, later, creates a region of so many microseconds. The third creates a region that lasts for
 * seconds, and then makes the file; the node has it when the first region ends. Prints whether the group has ended
 * before that: no message has told the node that a thread waits. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char made[256];
static int value, other;

/* A region after one that lasts until the long one is there. */
static void create_short(int first, int microseconds) {
#pragma omp target nowait depend(out : value) map(tofrom : value) firstprivate(first)
  usleep(first);
#pragma omp target nowait depend(inout : value) map(tofrom : value) firstprivate(microseconds)
  {
    usleep(microseconds);
    value += 1;
  }
}

static void create_long(int microseconds) {
#pragma omp target nowait depend(out : other) map(tofrom : other) map(to : made) firstprivate(microseconds)
  {
    usleep(microseconds);
    if (microseconds != 0) fclose(fopen(made, "w"));
    other += 1;
  }
}

int main(int count, char** words) {
  int microseconds = atoi(words[count - 1]), is_early = 0;
  snprintf(made, sizeof made, "%s", words[1]);
#pragma omp target enter data map(to : value, other, made)
#pragma omp parallel num_threads(3)
#pragma omp single
  {
    create_short(0, 0); /* regions that have run once are sent before their inputs are there */
    create_long(0);
#pragma omp taskwait
#pragma omp task
    {
      usleep(90 * 1000);
      create_long(0); /* so that the next one can start later than the short one */
      create_long(3000 * 1000);
    }
#pragma omp taskgroup
    {
#pragma omp task
      {
        usleep(50 * 1000);
        create_short(100 * 1000, microseconds);
      }
    }
    is_early = access(made, F_OK) != 0;
  }
#pragma omp target exit data map(from : value, other) map(release : made)
  printf("good=%d\n", value == 2 && other == 3);
  printf("early=%d\n", is_early);
  return 0;
}
