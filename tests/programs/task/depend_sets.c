/* SPDX-License-Identifier: Apache-2.0
 *
 * inoutset and omp_all_memory (OpenMP 5.1): the members of a set run in any order and at the same time, between what
 * came before and what comes after; omp_all_memory orders a task against every sibling with dependences.
 *
 * Covers: task(detach, firstprivate, depend:in/out/inout/inoutset/omp_all_memory)
 */
#include "../check.h"
#include <omp.h>

enum { kMembers = 40 };

static void sets(void) {
  int x = 0, members = 0;
#pragma omp parallel
#pragma omp single
  for (int round = 0; round < 20; round++) {
#pragma omp task depend(out : x) shared(x, members) firstprivate(round)
    {
      CHECK_EQ(members, round * kMembers);
      x = round;
    }
    for (int m = 0; m < kMembers; m++) {
#pragma omp task depend(inoutset : x) shared(x, members) firstprivate(round)
      {
        CHECK_EQ(x, round);
#pragma omp atomic
        members++;
      }
    }
    for (int r = 0; r < 10; r++) {
#pragma omp task depend(in : x) shared(x, members) firstprivate(round)
      {
        CHECK_EQ(members, (round + 1) * kMembers);
        CHECK_EQ(x, round);
      }
    }
  }
}

/* The first of a set to start waits until the last has run: only possible if the set does not order its members. */
static void a_set_orders_nobody(void) {
  int x = 0, y = 0;
#pragma omp parallel
#pragma omp single
  {
    omp_event_handle_t event;
#pragma omp task depend(inoutset : x) detach(event)
    {
    }
#pragma omp task depend(inoutset : x) shared(y) firstprivate(event)
    {
      y = 1;
      omp_fulfill_event(event);
    }
#pragma omp task depend(in : x) shared(y)
    CHECK_EQ(y, 1);
  }
}

static void all_memory(void) {
  int a = 0, b = 0, c = 0, phases = 0;
#pragma omp parallel
#pragma omp single
  for (int round = 0; round < 20; round++) {
#pragma omp task depend(inout : a) shared(a, phases) firstprivate(round)
    {
      CHECK_EQ(phases, round);
      a++;
    }
#pragma omp task depend(inout : b) shared(b, phases) firstprivate(round)
    {
      CHECK_EQ(phases, round);
      b++;
    }
#pragma omp task depend(in : c) shared(phases) firstprivate(round)
    CHECK_EQ(phases, round);
#pragma omp task depend(out : omp_all_memory) shared(a, b, phases) firstprivate(round)
    {
      CHECK_EQ(a, round + 1);
      CHECK_EQ(b, round + 1);
      phases++;
    }
  }
#pragma omp parallel
#pragma omp single
  for (int round = 0; round < 20; round++) {
#pragma omp task depend(inout : omp_all_memory) depend(in : a) shared(c) firstprivate(round)
    CHECK_EQ(c++, round);
  }
}

int main(void) {
  for (int round = 0; round < 20; round++) {
    sets();
    a_set_orders_nobody();
    all_memory();
  }
  return 0;
}
