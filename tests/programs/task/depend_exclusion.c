/* SPDX-License-Identifier: Apache-2.0
 *
 * mutexinoutset excludes, it does not order. Both programs here only end on a runtime that keeps the two apart.
 *
 * Covers: task(detach, firstprivate, depend:in/out/mutexinoutset), taskgroup
 */
#include "../check.h"
#include <omp.h>

static int shared_address, gate; /* named in dependences only */

/* A member of a set that waits for another predecessor, which is late, must not hold up the rest of the set. */
static void exclusion_orders_nobody(void) {
  int others = 0;
#pragma omp parallel
#pragma omp single
  {
    omp_event_handle_t event;
#pragma omp task detach(event) depend(out : gate)
    {
    }
#pragma omp task depend(in : gate) depend(mutexinoutset : shared_address) shared(others)
    CHECK_EQ(others, 10);
    for (int t = 0; t < 10; t++) {
#pragma omp task depend(mutexinoutset : shared_address) shared(others) firstprivate(event)
      {
        others++;
        if (others == 10) omp_fulfill_event(event);
      }
    }
  }
  CHECK_EQ(others, 10);
}

/* The first member created ends only once a later one has run: a runtime that runs them in turn never gets there. */
static void the_first_waits_for_the_last(void) {
  int ran = 0;
#pragma omp parallel
#pragma omp single
  for (int round = 0; round < 10; round++) {
#pragma omp taskgroup
    {
      omp_event_handle_t event;
#pragma omp task detach(event) depend(out : gate)
      {
      }
      for (int t = 0; t < 5; t++) {
#pragma omp task depend(mutexinoutset : shared_address) depend(in : gate) shared(ran)
        ran++;
      }
#pragma omp task depend(mutexinoutset : shared_address) shared(ran) firstprivate(event, round)
      {
        CHECK_EQ(ran, 6 * round);
        ran++;
        omp_fulfill_event(event);
      }
    }
  }
  CHECK_EQ(ran, 60);
}

int main(void) {
  for (int round = 0; round < 20; round++) {
    exclusion_orders_nobody();
    the_first_waits_for_the_last();
  }
  return 0;
}
