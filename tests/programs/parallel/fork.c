/* SPDX-License-Identifier: Apache-2.0
 *
 * fork() between parallel regions, as Python's multiprocessing and daemons do it: the child has none of the parent's
 * threads and opens regions of its own; so does the parent, and so does a child of the child.
 *
 * Covers: marline process, parallel, task
 */
#include "../forked.h"
#include <omp.h>

enum { kTasks = 200 };

static void region(void) {
  int team = omp_get_max_threads(), members = 0, tasks = 0;
#pragma omp parallel reduction(+ : members)
  {
    members++;
#pragma omp single
    for (int t = 0; t < kTasks; t++) {
#pragma omp task shared(tasks)
      __atomic_add_fetch(&tasks, 1, __ATOMIC_RELAXED);
    }
    CHECK_EQ(omp_get_num_threads(), team);
  }
  CHECK_EQ(members, team);
  CHECK_EQ(tasks, kTasks);
}

static void regions_in_child(int generations) {
  if (generations == 0) return;
  fflush(NULL);
  pid_t child = fork();
  CHECK(child >= 0);
  region();
  if (child == 0) {
    regions_in_child(generations - 1);
    exit(0); /* with the runtime's end of the process, too */
  }
  expect_exit(child, 0);
  region();
}

int main(void) {
  omp_set_dynamic(0);
  regions_in_child(2); /* before the first region */
  region();
  for (int round = 0; round < 10; round++) regions_in_child(2);
  return 0;
}
