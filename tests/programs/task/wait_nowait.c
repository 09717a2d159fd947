/* SPDX-License-Identifier: Apache-2.0
 *
 * taskwait with depend and nowait (OpenMP 5.2, 15.5) does not wait, but stands in the order of dependences like an
 * empty task: what comes after it waits for what comes before it.
 *
 * Covers: taskwait(depend:in/inout, nowait), task(detach, depend:in/out/inout)
 */
#include "../check.h"
#include <omp.h>

int main(void) {
#pragma omp parallel
#pragma omp single
  {
    char x = 0, y = 0;
    int done = 0, seen = 0;
    omp_event_handle_t event;
#pragma omp task detach(event) depend(out : x)
    {
    }
    /* The event is this thread's to fulfil: whoever waited here would wait for ever. */
#pragma omp taskwait depend(in : x) depend(inout : y) nowait
#pragma omp task depend(in : y) shared(done, seen)
    {
#pragma omp atomic read
      seen = done;
    }
#pragma omp atomic write
    done = 1;
    omp_fulfill_event(event);
#pragma omp taskwait
    CHECK_EQ(seen, 1);
  }
  return 0;
}
