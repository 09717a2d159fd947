/* SPDX-License-Identifier: Apache-2.0
 *
 * An event has room for one waiter (marline.h): a second wait for it ends the program with one line, rather than with a
 * task that never comes back.
 *
 * Covers: marline events
 */
#include "../child.h"
#include <marline/marline.h>
#include <omp.h>

static marline_event_t event = MARLINE_EVENT_INIT;

static int wait_twice(void) {
#pragma omp parallel
#pragma omp single
  for (int t = 0; t < 2; t++) {
#pragma omp task untied
    marline_event_wait(&event);
  }
  return 0;
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "wait_twice") == 0) return wait_twice();
  static Child child;
  char* variables[] = {NULL};
  run_child(&child, "wait_twice", variables);
  CHECK(!child.exited || child.status != 0);
  CHECK_LINE(&child, "marline: fatal: ", "two waits for one event");
  char* end = strchr(child.output, '\n');
  CHECK(end != NULL && end[1] == '\0'); /* one line */
  return 0;
}
