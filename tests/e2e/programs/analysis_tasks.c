// SPDX-License-Identifier: Apache-2.0
//
// Tasks of every sort that the analysis tells apart: with dependences, nested with a taskwait and a lock, undeferred,
// detached, of a taskloop; a loop before them. 29 explicit tasks; the longest chain of dependences has 8.
#include <omp.h>

static int cell[8];
static volatile double sink;

static void work(int rounds) {
  for (int i = 0; i < rounds * 1000; ++i) {
    sink += i;
  }
}

static void chain(void) {
  for (int i = 0; i < 8; ++i) {
#pragma omp task depend(out : cell[i])
    work(10);
  }
  for (int i = 1; i < 8; ++i) {
#pragma omp task depend(in : cell[i - 1]) depend(inout : cell[i])
    {
#pragma omp task
      work(2);
#pragma omp taskwait
#pragma omp critical
      work(2);
    }
  }
}

static void others(void) {
  omp_event_handle_t event;
#pragma omp task if (0)
  work(3);
#pragma omp task depend(out : cell[0]) detach(event)
  work(1);
#pragma omp task depend(in : cell[0])
  work(1);
  work(10);
  omp_fulfill_event(event);
#pragma omp taskwait
#pragma omp taskloop grainsize(1)
  for (int i = 0; i < 4; ++i) {
    work(1);
  }
}

int main(void) {
#pragma omp parallel num_threads(2)
  {
#pragma omp for
    for (int i = 0; i < 4; ++i) {
      work(5);
    }
#pragma omp single
    {
      chain();
      others();
    }
  }
  return 0;
}
