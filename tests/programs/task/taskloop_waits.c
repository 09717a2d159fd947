/* SPDX-License-Identifier: Apache-2.0
 *
 * A task of a taskloop waits for a later one of the same loop: its child has an event, which the later one fulfils. So
 * the tasks that have not begun must not wait with it, also where one thread has taken them together.
 *
 * Covers: parallel, single, task(detach, firstprivate), taskloop(grainsize), taskwait, taskyield,
 *  atomic(read, write), omp_fulfill_event
 */
#include "../check.h"
#include <omp.h>
#include <stdint.h>

enum { kPairs = 40, kRounds = 20 };

static uintptr_t handles[kPairs];
static int fulfilled[kPairs], waited[kPairs];

static void wait_for_later(int pair) {
  omp_event_handle_t event;
#pragma omp task detach(event) firstprivate(pair)
  {
    const uintptr_t own = (uintptr_t)event;
#pragma omp atomic write
    handles[pair] = own;
  }
#pragma omp taskwait
  int there;
#pragma omp atomic read
  there = fulfilled[pair];
  CHECK_EQ(there, 1);
  waited[pair]++;
}

static void fulfil_for_earlier(int pair) {
  uintptr_t event = 0;
  for (;;) {
#pragma omp atomic read
    event = handles[pair];
    if (event != 0) break;
#pragma omp taskyield
  }
#pragma omp atomic write
  fulfilled[pair] = 1;
  omp_fulfill_event((omp_event_handle_t)event);
}

int main(void) {
  for (int round = 0; round < kRounds; round++) {
    for (int pair = 0; pair < kPairs; pair++) handles[pair] = 0, fulfilled[pair] = waited[pair] = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(1)
    for (int i = 0; i < 2 * kPairs; i++) {
      if (i % 2 == 0) {
        wait_for_later(i / 2);
      } else {
        fulfil_for_earlier(i / 2);
      }
    }
    for (int pair = 0; pair < kPairs; pair++) CHECK_EQ(waited[pair], 1);
  }
  return 0;
}
