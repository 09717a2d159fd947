/* SPDX-License-Identifier: Apache-2.0
 *
 * MARLINE_QUEUES: threads of one domain share a queue. Two threads queue tasks one after the other; then the first of
 * them runs all while the second holds still. It finds the newest first whoever has queued it if they share a queue,
 * and its own first if they do not. Argument: shared; domains, if each has a queue shared with others; own, if a deque.
 *
 * Covers: marline locality
 */
#include "../check.h"
#include "log.h"
#include <omp.h>

enum { TASKS = 20 };

static int created, done;

static void create(int first) {
  for (int i = first; i < first + TASKS; i++) {
#pragma omp task firstprivate(i)
    {
      log_add(i);
      count_up(&done);
    }
  }
  count_up(&created);
}

int main(int argc, char** argv) {
  check_runtime();
  const char* expected = argc > 1 ? argv[1] : "own";
#pragma omp parallel num_threads(2)
  {
    int me = omp_get_thread_num();
    wait_until(&created, me);
    create(me * TASKS);
    wait_until(&created, 2);
    if (me == 1) wait_until(&done, 2 * TASKS);
  }
  for (int i = 0; i < 2 * TASKS; i++) {
    int newest = 2 * TASKS - 1 - i;
    int own_first = i < TASKS ? TASKS - 1 - i : strcmp(expected, "own") == 0 ? i : TASKS + newest;
    CHECK_EQ(log_entries[i], strcmp(expected, "shared") == 0 ? newest : own_first);
  }
  return 0;
}
