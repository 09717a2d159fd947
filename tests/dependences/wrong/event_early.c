// SPDX-License-Identifier: Apache-2.0
// The task fulfils the event, and only then writes what the event stands for.
// Expect: race x; missing in(x)
#include <omp.h>
#include <stdio.h>

static int x;

static int run(void) {
  int seen = 0;
  omp_event_handle_t event;
#pragma omp task detach(event) depend(out : seen)
  {
  }
#pragma omp task firstprivate(event)
  {
    omp_fulfill_event(event);
    x = 1;
  }
#pragma omp task depend(in : seen) shared(seen)
  seen += x;
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
