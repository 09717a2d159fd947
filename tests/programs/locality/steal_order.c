/* SPDX-License-Identifier: Apache-2.0
 *
 * A thief empties the queues of the others in the order of the topology. Every thread queues tasks of its own; then one
 * thread runs them all while the others hold still. Arguments: the thief, then the threads that have the tasks which it
 * is to run, in this order.
 *
 * Covers: marline locality
 */
#include "../check.h"
#include "log.h"
#include <omp.h>

enum { TASKS = 5 };

static int created, done;

int main(int argc, char** argv) {
  check_runtime();
  int threads = argc - 2;
  int thief = atoi(argv[1]);
#pragma omp parallel num_threads(threads)
  {
    CHECK_EQ(omp_get_num_threads(), threads);
    int creator = omp_get_thread_num();
    for (int i = 0; i < TASKS; i++) {
#pragma omp task firstprivate(creator)
      {
        CHECK_EQ(omp_get_thread_num(), thief);
        log_add(creator);
        count_up(&done);
      }
    }
    count_up(&created);
    if (creator == thief)
      wait_until(&created, threads);
    else
      wait_until(&done, threads * TASKS);
  }
  for (int i = 0; i < log_count; i++) CHECK_EQ(log_entries[i], atoi(argv[2 + i / TASKS]));
  return 0;
}
