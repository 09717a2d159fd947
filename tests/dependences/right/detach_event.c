// SPDX-License-Identifier: Apache-2.0
// The task is complete when its event is fulfilled, and the other task writes before it fulfils it.
// Expect: clean
#include <omp.h>
#include <stdio.h>

static int x;

static int run(void) {
  int seen = 0;
  omp_event_handle_t event;
#pragma omp task detach(event) depend(out : x)
  {
  }
#pragma omp task firstprivate(event)
  {
    x = 1;
    omp_fulfill_event(event);
  }
#pragma omp task depend(in : x) shared(seen)
  seen = x;
#pragma omp taskwait
  return seen != 1;
}

int main(void) {
  int failed = 0;
#pragma omp parallel
#pragma omp single
  failed = run();
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
