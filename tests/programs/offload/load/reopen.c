/* SPDX-License-Identifier: Apache-2.0
 *
 * A library with target regions is opened, used and closed again and again, usually at the same address: each time it
 * brings its code and the first values of its variables, to each device, and takes them away, and tools hear of both.
 * With CODE_OF_ITS_OWN the program has regions, too; without, the library is all that devices know.
 *
 *   LIBRARY [DEVICES]
 *
 * Covers: target(map), ompt_callback_device_load, ompt_callback_device_unload
 */
#include "../../tool.h"
#include "../device.h"

#define ROUNDS 12

static int rounds_open = 0;
static int loads, unloads, current = -1;
static uint64_t newest; /* number of the last image that was loaded */

static void on_load(int device, const char* file, int64_t offset, void* place, size_t bytes, void* host, void* address,
                    uint64_t module) {
  (void)device, (void)file, (void)offset, (void)place, (void)bytes, (void)host, (void)address;
  newest = module;
  loads++;
}

static void on_unload(int device, uint64_t module) {
  CHECK_EQ(device, current);
  CHECK_EQ(module, newest); /* the next one comes later */
  unloads++;
}

static void tool_callbacks(ompt_set_callback_t set) {
  CHECK_EQ(set(ompt_callback_device_load, (ompt_callback_t)on_load), ompt_set_always);
  CHECK_EQ(set(ompt_callback_device_unload, (ompt_callback_t)on_unload), ompt_set_always);
}

static void* symbol(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (!found) check_failed(__FILE__, __LINE__, "%s: %s", name, dlerror());
  return found;
}

static int* use(void* library, int value, int* open_files) {
  void (*set)(int) = (void (*)(int))symbol(library, "set_kept");
  int (*get)(void) = (int (*)(void))symbol(library, "get_kept");
  int* kept = ((int* (*)(void))symbol(library, "address_of_kept"))();
  *open_files = ((int (*)(void))symbol(library, "descriptors"))();
  CHECK_EQ(get(), 1);
  set(value);
  CHECK_EQ(get(), value);
  CHECK_EQ(*kept, value);
  CHECK(omp_target_is_present(kept, omp_get_default_device()));
  return kept;
}

static void reopen(const char* path, int device) {
  int first_files = 0;
  omp_set_default_device(current = device);
  for (int round = 0; round < ROUNDS; round++) {
    void* library = dlopen(path, RTLD_NOW);
    if (!library) check_failed(__FILE__, __LINE__, "%s", dlerror());
    int files, *kept = use(library, 100 + rounds_open++, &files);
    CHECK_EQ(dlclose(library), 0);
    CHECK(dlopen(path, RTLD_NOW | RTLD_NOLOAD) == NULL);
    CHECK(!omp_target_is_present(kept, device));
    if (round == 1) first_files = files;
    if (round > 1) CHECK_EQ(files, first_files);
  }
}

#ifdef CODE_OF_ITS_OWN
enum { OF_ITS_OWN = 1 };
static int of_the_program(void) {
  int value = 1;
#pragma omp target map(tofrom : value)
  value++;
  return value;
}
#else
enum { OF_ITS_OWN = 0 };
static int of_the_program(void) { return 2; }
#endif

int main(int argc, char** argv) {
  if (argc < 2) check_failed(__FILE__, __LINE__, "no library is given");
  CHECK(omp_get_num_devices() > 0);
  int devices = argc > 2 ? atoi(argv[2]) : omp_get_num_devices();
  for (int device = 0; device < 2 && device < devices; device++) {
    loads = unloads = 0;
    reopen(argv[1], device);
    CHECK_EQ(of_the_program(), 2);
#ifdef NO_FILES /* libomptarget loads a GPU's images, and does not say so */
    CHECK_EQ(loads + unloads, 0);
#else
    CHECK_EQ(loads, ROUNDS + OF_ITS_OWN);
    CHECK_EQ(unloads, ROUNDS);
#endif
  }
  return 0;
}
