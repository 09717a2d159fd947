/* SPDX-License-Identifier: Apache-2.0
 *
 * error at(execution): one line, with the place if the compiler passes it, also without a message; a fatal one ends the
 * program as exit(1) does: what was written before is not lost.
 *
 * Covers: error(at, severity, message)
 */
#include "../child.h"
#include <omp.h>

static void say_goodbye(void) { printf("goodbye\n"); }

static int fail(void) {
  atexit(say_goodbye);
  printf("before\n");
#pragma omp parallel num_threads(3)
  {
#pragma omp error at(execution) severity(fatal) message("no way out")
  }
  return 0;
}

static int warn(void) {
#pragma omp error at(execution) severity(warning)
  printf("went on\n");
  return 0;
}

int main(int argc, char** argv) {
  if (argc > 1) return strcmp(argv[1], "fail") == 0 ? fail() : warn();
  static Child child;
  char* variables[] = {NULL};
  run_child(&child, "fail", variables);
  CHECK(child.exited && child.status == 1);
  CHECK_LINE(&child, "before");
  CHECK_LINE(&child, "goodbye");
  CHECK_LINE(&child, "marline: fatal: error directive", ": no way out");
  CHECK(strstr(strstr(child.output, "no way out") + 1, "no way out") ==
        NULL); /* said once, though all threads meet it */
  run_child(&child, "warn", variables);
  CHECK(child.exited && child.status == 0);
  CHECK_LINE(&child, "marline: warning: error directive");
  CHECK_LINE(&child, "went on");
#ifdef __clang__
  CHECK_LINE(&child, "error directive at ", "error.c:24:"); /* Clang passes the place */
#endif
  return 0;
}
