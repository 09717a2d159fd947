/* SPDX-License-Identifier: Apache-2.0
 *
 * Libraries of GCC's with target regions, each opened when the one before is closed, so usually at the same address:
 * each region runs its own library's code, and the variables of a library that is opened again have their first values.
 * The program itself has no regions: the first library brings the runtime along, so it is there when devices start.
 */
#include "../../check.h"

static int call(void* library, const char* name) {
  int (*function)(void) = (int (*)(void))dlsym(library, name);
  if (!function) check_failed(__FILE__, __LINE__, "%s: %s", name, dlerror());
  return function();
}

int main(int argc, char** argv) {
  CHECK_EQ(argc, 3);
  for (int round = 0; round < 6; round++) {
    int which = 1 + round % 3 / 2; /* 1 1 2 1 1 2 */
    void* library = dlopen(argv[which], RTLD_NOW);
    if (!library) check_failed(__FILE__, __LINE__, "%s", dlerror());
    CHECK_EQ(call(library, "number"), 1000 * which);
    CHECK_EQ(call(library, "next_kept"), 1000 * which + 1);
    CHECK_EQ(dlclose(library), 0);
  }
  return 0;
}
