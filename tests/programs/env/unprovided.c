/* SPDX-License-Identifier: Apache-2.0
 *
 * An entry point that Marline does not have yet ends the program with its name; it never runs on with a wrong result. The
 * child calls one of libgomp's by its name.
 *
 * Covers: marline refusals
 */
#include "../child.h"
#include <omp.h>

static int offload(void) {
  void (*entry)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "GOMP_offload_unregister");
  CHECK(entry != NULL && omp_get_max_threads() > 0);
  entry();
  puts("went on");
  return 0;
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "offload") == 0)
    return offload();
  static Child child;
  char *variables[] = {NULL};
  run_child(&child, "offload", variables);
  CHECK(!child.exited || child.status != 0);
  CHECK_LINE(&child, "GOMP_offload_unregister", "not provided by Marline yet");
  CHECK(strstr(child.output, "went on") == NULL);
  return 0;
}
