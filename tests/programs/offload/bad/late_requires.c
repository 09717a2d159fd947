/* SPDX-License-Identifier: Apache-2.0
 *
 * A library asks for unified shared memory when the program already has data of its own on the device: the program ends
 * with a line.
 *
 * Covers: requires(unified_shared_memory), target(map)
 */
#include "../../check.h"

int main(int argc, char** argv) {
  int value = 1;
  CHECK_EQ(argc, 2);
#pragma omp target map(tofrom : value)
  value++;
  void* library = dlopen(argv[1], RTLD_NOW);
  if (!library) check_failed(__FILE__, __LINE__, "%s", dlerror());
  int (*on_device)(int*) = (int (*)(int*))dlsym(library, "on_device");
  CHECK(on_device != NULL);
  printf("went on: %d\n", on_device(&value));
  return 0;
}
