/* SPDX-License-Identifier: Apache-2.0
 *
 * Regions that end badly on the device: null pointers, the host's addresses, abort, exit, division by zero, endless
 * recursion; also on a thread of a parallel region inside. The runtime says in one line which region it was, at which
 * place, and what happened.
 *
 * Covers: target(map, nowait, is_device_ptr), target parallel for
 */
#include "bad.h"
#include <signal.h>

static void null_write(void) {
  int* volatile nothing = NULL;
#pragma omp target firstprivate(nothing)
  *nothing = 1;
}

static void null_read(void) {
  int* volatile nothing = NULL, x = 0;
#pragma omp target firstprivate(nothing) map(tofrom : x)
  x = nothing[5];
}

static void deferred(void) {
  int* volatile nothing = NULL;
#pragma omp parallel
#pragma omp single
  {
#pragma omp target nowait firstprivate(nothing)
    *nothing = 1;
#pragma omp taskwait
  }
}

/* An address far from everything, claimed to be the device's. */
static void wild(void) {
  int* volatile far = (int*)0x7ff0dead0000;
#pragma omp target is_device_ptr(far)
  *far = 1;
}

static void aborts(void) {
#pragma omp target
  abort();
}

static void exits(void) {
#pragma omp target
  exit(3);
}

static void traps(void) {
  volatile int zero = 0;
  int x = 1;
#pragma omp target map(tofrom : x)
  x = x / zero;
}

#pragma omp declare target
static int deeper(volatile int* x) {
  volatile int here[1000];
  here[0] = *x;
  return *x ? deeper(x) + here[0] : 0;
}
#pragma omp end declare target

static void overflow(void) {
  int result = 0;
#pragma omp target map(tofrom : result)
  {
    volatile int on = 1;
    result = deeper(&on);
  }
}

/* Not the thread that has called the region. */
static void in_a_team(void) {
  int* volatile nothing = NULL;
#pragma omp target parallel for num_threads(4) schedule(static, 1) firstprivate(nothing)
  for (int i = 0; i < 4; i++) {
    if (i == 3) *nothing = 1;
  }
}

/* The child of the region lives longer. */
static void after_a_fork(void) {
  int* volatile nothing = NULL;
#pragma omp target firstprivate(nothing)
  {
    if (fork() == 0) {
      close(STDOUT_FILENO);
      close(STDERR_FILENO); /* the test's pipes */
      sleep(10);
      _exit(0);
    }
    *nothing = 1;
  }
}

static void in_all_threads(void) {
  int* volatile nothing = NULL;
#pragma omp target parallel num_threads(8) firstprivate(nothing)
  *nothing = 1;
}

static void exits_quickly(void) {
#pragma omp target
  quick_exit(3);
}

static void calls_nothing(void) {
#pragma omp target
  raise(SIGSYS);
}

/* Killed from outside, as if memory had run out. */
static void killed(void) {
#pragma omp target
  raise(SIGKILL);
}

int main(int argc, char** argv) {
  static const Mistake mistakes[] = {{"null_write", null_write},
                                     {"null_read", null_read},
                                     {"deferred", deferred},
                                     {"wild", wild},
                                     {"aborts", aborts},
                                     {"exits", exits},
                                     {"traps", traps},
                                     {"overflow", overflow},
                                     {"killed", killed},
                                     {"in_a_team", in_a_team},
                                     {"after_a_fork", after_a_fork},
                                     {"in_all_threads", in_all_threads},
                                     {"exits_quickly", exits_quickly},
                                     {"calls_nothing", calls_nothing}};
  return MAKE_MISTAKE(argc, argv, mistakes);
}
