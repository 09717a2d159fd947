/* SPDX-License-Identifier: Apache-2.0
 *
 * A construct that Marline does not have yet ends the program with the entry point's name; it never runs on with a
 * wrong result. The child uses `cancel`.
 */
#include "../child.h"
#include <omp.h>

static int cancel_a_region(void) {
#pragma omp parallel
  {
#pragma omp cancel parallel
  }
  puts("went on");
  return 0;
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "cancel") == 0)
    return cancel_a_region();
  static Child child;
  char *variables[] = {"OMP_CANCELLATION=true", NULL};
  run_child(&child, "cancel", variables);
  CHECK(!child.exited || child.status != 0);
  CHECK_LINE(&child, "cancel", "not provided by Marline yet");
  CHECK(strstr(child.output, "went on") == NULL);
  return 0;
}
