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
#include <sys/resource.h>

__attribute__((noinline)) static long devour(long depth) {
  volatile char frame[4096];
  frame[0] = (char)depth;
  frame[4095] = 1;
  if (depth == 1L << 40) /* never reached; without it the compilers see that the recursion has no end */
    return 0;
  return devour(depth + frame[4095]) + frame[0];
}

/* In code that a library calls back, too, before it has come to a construct: the task that has called the library. */
static int overflow(int in_library) {
  marline_event_t never = MARLINE_EVENT_INIT;
  (void)never;
#pragma omp parallel
#pragma omp single
  {
    /* The first task is suspended on the first thread's stack, so that the hungry one runs on a fiber's stack. */
#pragma omp task shared(never)
    marline_event_wait(&never);
    marline_task_label("hungry");
#pragma omp task
    {
      marline_library_call_t call;
      if (in_library) marline_library_enter(&call);
      volatile long result = devour(1);
      (void)result;
    }
#pragma omp taskwait
  }
  return 0;
}

/* On the stack that the kernel has made, whose size no variable of OpenMP's sets. */
static int overflow_first(void) {
#pragma omp parallel num_threads(1)
  {
    volatile long result = devour(1);
    (void)result;
  }
  return 0;
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "first") == 0) return overflow_first();
  if (argc > 1) return overflow(strcmp(argv[1], "overflow in library") == 0);
  static Child child;
  char* sizes[] = {"OMP_STACKSIZE=256K", "OMP_STACKSIZE=4M"};
  for (int s = 0; s < 2; s++) {
    char* variables[] = {sizes[s], "MARLINE_SCHEDULE=fifo", NULL};
    for (int in_library = 0; in_library < 2; in_library++) {
      run_child(&child, in_library ? "overflow in library" : "overflow", variables);
      CHECK(!child.exited || child.status != 0);
      /* With several threads, the first one may run it on the stack that the kernel has made. */
      CHECK_LINE(&child, "hungry", "KiB; ", omp_get_max_threads() == 1 ? "OMP_STACKSIZE" : "");
    }
  }
  struct rlimit stack;
  CHECK_EQ(getrlimit(RLIMIT_STACK, &stack), 0);
  if (stack.rlim_cur == RLIM_INFINITY) return 0;
  char* variables[] = {NULL};
  run_child(&child, "first", variables);
  CHECK(!child.exited || child.status != 0);
  CHECK_LINE(&child, "implicit task", "ulimit -s");
  return 0;
}
