/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads the library named first, which uses OpenMP, and calls it: plugin_host FILE [deepbind]. It has no OpenMP itself.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int flags = RTLD_LAZY | RTLD_LOCAL;
  if (argc > 2) flags |= RTLD_DEEPBIND;
  void* library = dlopen(argv[1], flags);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  int (*count_threads)(void) = (int (*)(void))dlsym(library, "count_threads");
  printf("threads=%d\n", count_threads());
  return 0;
}
