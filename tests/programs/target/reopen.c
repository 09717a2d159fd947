/* SPDX-License-Identifier: Apache-2.0
 *
 * A library with target regions is opened, used and closed again and again, usually at the same address: each time it
 * brings its code and the first values of its variables, to each device, and takes them away. With CODE_OF_ITS_OWN the
 * program has regions, too; without, the library is all that devices know.
 *
 * Covers: target(map)
 */
#include "device.h"

#define ROUNDS 12

static int rounds_open = 0;

static void *symbol(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (!found)
    check_failed(__FILE__, __LINE__, "%s: %s", name, dlerror());
  return found;
}

static int *use(void *library, int value, int *open_files) {
  void (*set)(int) = (void (*)(int))symbol(library, "set_kept");
  int (*get)(void) = (int (*)(void))symbol(library, "get_kept");
  int *kept = ((int *(*)(void))symbol(library, "address_of_kept"))();
  *open_files = ((int (*)(void))symbol(library, "descriptors"))();
  CHECK_EQ(get(), 1);
  set(value);
  CHECK_EQ(get(), value);
  CHECK_EQ(*kept, value);
  CHECK(omp_target_is_present(kept, omp_get_default_device()));
  return kept;
}

static void reopen(const char *path, int device) {
  int first_files = 0;
  omp_set_default_device(device);
  for (int round = 0; round < ROUNDS; round++) {
    void *library = dlopen(path, RTLD_NOW);
    if (!library)
      check_failed(__FILE__, __LINE__, "%s", dlerror());
    int files, *kept = use(library, 100 + rounds_open++, &files);
    CHECK_EQ(dlclose(library), 0);
    CHECK(dlopen(path, RTLD_NOW | RTLD_NOLOAD) == NULL);
    CHECK(!omp_target_is_present(kept, device));
    if (round == 1)
      first_files = files;
    if (round > 1)
      CHECK_EQ(files, first_files);
  }
}

#ifdef CODE_OF_ITS_OWN
static int of_the_program(void) {
  int value = 1;
#pragma omp target map(tofrom : value)
  value++;
  return value;
}
#else
static int of_the_program(void) { return 2; }
#endif

int main(int argc, char **argv) {
  if (argc < 2)
    check_failed(__FILE__, __LINE__, "no library is given");
  for (int device = 0; device < 2; device++) {
    reopen(argv[1], device < omp_get_num_devices() ? device : 0);
    CHECK_EQ(of_the_program(), 2);
  }
  return 0;
}
