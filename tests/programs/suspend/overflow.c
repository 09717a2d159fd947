/* SPDX-License-Identifier: Apache-2.0
 *
 * A task that overflows its stack ends the program with one line that names the task and the variable to raise, not
 * with a bare SIGSEGV and never by writing into another task's stack.
 *
 * Covers: marline suspension
 */
#include "../child.h"
#include <marline/marline.h>
#include <omp.h>

__attribute__((noinline)) static long devour(long depth) {
  volatile char frame[4096];
  frame[0] = (char)depth;
  frame[4095] = 1;
  if (depth == 1L << 40) /* never reached; without it the compilers see that the recursion has no end */
    return 0;
  return devour(depth + frame[4095]) + frame[0];
}

static int overflow(void) {
  marline_event_t never = MARLINE_EVENT_INIT;
  (void)never;
#pragma omp parallel
#pragma omp single
  {
    /* A first task is suspended, so that the hungry one runs on a fiber's stack rather than on the program's own. */
#pragma omp task shared(never)
    marline_event_wait(&never);
    marline_task_label("hungry");
#pragma omp task
    {
      volatile long result = devour(1);
      (void)result;
    }
#pragma omp taskwait
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "overflow") == 0)
    return overflow();
  static Child child;
  char *sizes[] = {"OMP_STACKSIZE=256K", "OMP_STACKSIZE=4M"};
  for (int s = 0; s < 2; s++) {
    char *variables[] = {sizes[s], NULL};
    run_child(&child, "overflow", variables);
    CHECK(!child.exited || child.status != 0);
    CHECK_LINE(&child, "hungry", "OMP_STACKSIZE");
  }
  return 0;
}
