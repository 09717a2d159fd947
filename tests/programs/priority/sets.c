/* SPDX-License-Identifier: Apache-2.0
 *
 * Priorities pass through what Marline puts between the members of two sets (a node without a body), which is no step
 * of its own: members of an inoutset, then readers, then one task with a priority. MARLINE_PRIORITY=copy,decrement.
 *
 * Covers: marline priorities, task(priority, depend:inoutset)
 */
#include "../check.h"
#include <omp.h>

static char set, other, gate;
static int order[16], ran;

int main(void) {
  omp_event_handle_t opened = 0;
#pragma omp parallel num_threads(1)
  {
#pragma omp task detach(opened) depend(out : gate)
    {
    }
    /* Ready together: 10 - 2 for the members, from both readers; 9 and 7 for the others. */
    for (int i = 0; i < 3; i++) {
#pragma omp task depend(in : gate) depend(inoutset : set)
      order[ran++] = 8;
    }
#pragma omp task depend(in : gate) priority(9)
    order[ran++] = 9;
#pragma omp task depend(in : gate) priority(7)
    order[ran++] = 7;
    for (int i = 0; i < 2; i++) {
#pragma omp task depend(in : set) depend(inoutset : other)
      order[ran++] = 5;
    }
#pragma omp task depend(out : other) priority(10)
    order[ran++] = 4;
    omp_fulfill_event(opened);
  }
  /* 9; the three members (8); the readers then have 9; their successor 10; 7 comes last. */
  const int expected[] = {9, 8, 8, 8, 5, 5, 4, 7};
  CHECK_EQ(ran, 8);
  for (int i = 0; i < 8; i++) CHECK_EQ(order[i], expected[i]);
  return 0;
}
