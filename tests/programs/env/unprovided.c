/* SPDX-License-Identifier: Apache-2.0
 *
 * An entry point that Marline does not have yet ends the program with its name; it never runs on with a wrong result.
 * The child calls one of libomp's by its name.
 *
 * Covers: marline refusals
 */
#include "../child.h"
#include <omp.h>

static int read_graph(void) {
  void (*entry)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "__kmpc_task_get_successors");
  CHECK(entry != NULL && omp_get_max_threads() > 0);
  entry();
  puts("went on");
  return 0;
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "read_graph") == 0) return read_graph();
  static Child child;
  char* variables[] = {NULL};
  run_child(&child, "read_graph", variables);
  CHECK(!child.exited || child.status != 0);
  CHECK_LINE(&child, "__kmpc_task_get_successors", "not provided by Marline yet");
  CHECK(strstr(child.output, "went on") == NULL);
  return 0;
}
