/* SPDX-License-Identifier: Apache-2.0
 *
 * Regions with arguments of version 2 on a GPU: those of Clang 18 reach libomptarget as version 3, so that it gives
 * their kernels the pointer that they expect, and those of Clang 16 and 17 as they are. The images of Clang 18 have a
 * variable for each kernel. The library is a stand-in (library_version_library.c), and the tables are written by hand.
 *
 * Covers: entry points of other compilers
 */
#include "../../check.h"
#include "clang_tables.h"

typedef struct {
  char header[64], names[64]; /* an ELF file of 64 bits, for no machine */
} File;
static const File with = {"\177ELF\2", "region_kernel_environment"}, without = {"\177ELF\2", "region_exec_mode"};
static char ids[2];
static Entry entries[] = {{0, 1, 1, 0, &ids[0], "region", 0, 0, NULL}, {0, 1, 1, 0, &ids[1], "region", 0, 0, NULL}};
static Image images[] = {{&with, &with + 1, &entries[0], &entries[1]},
                         {&without, &without + 1, &entries[1], &entries[2]}};
static Descriptor descriptors[] = {{1, &images[0], &entries[0], &entries[1]},
                                   {1, &images[1], &entries[1], &entries[2]}};

static void check(unsigned* noted, int region, unsigned given, unsigned expected) {
  Arguments arguments = {.version = given};
  CHECK_EQ(__tgt_target_kernel(NULL, -1, -1, 0, &ids[region], &arguments), 0);
  CHECK_EQ(*noted, expected);
}

int main(void) {
  __tgt_register_lib(&descriptors[0]);
  __tgt_register_lib(&descriptors[1]);
  Arguments arguments = {.version = 3};
  CHECK_EQ(__tgt_target_kernel(NULL, -1, -1, 0, &ids[0], &arguments), 0);
  void* library = dlopen(getenv("MARLINE_LIBOMPTARGET"), RTLD_NOW | RTLD_NOLOAD);
  CHECK(library != NULL);
  unsigned* noted = dlsym(library, "noted_version");
  CHECK_EQ(*noted, 3);
  check(noted, 0, 2, 3);
  check(noted, 1, 2, 2);
  check(noted, 1, 3, 3);
  return 0;
}
