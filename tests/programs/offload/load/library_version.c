/* SPDX-License-Identifier: Apache-2.0
 *
 * A region with arguments of Clang 23 on a device of a libomptarget with or without its version in the file name. The
 * library is a stand-in (library_version_library.c), and the tables are written by hand.
 *
 * Covers: entry points of other compilers
 */
#include "../../check.h"
#include "clang_tables.h"

enum { kRegions = 3, kNewArguments = 5 };

int main(void) {
  static char region_id;
  static Entry entry = {0, 1, 1, 0, &region_id, "region", 0, 0, NULL};
  static Descriptor descriptor = {0, NULL, &entry, &entry + 1};
  __tgt_register_lib(&descriptor);
  for (int i = 0; i < kRegions; i++) {
    Arguments arguments = {.version = kNewArguments};
    CHECK_EQ(__tgt_target_kernel(NULL, -1, -1, 0, &region_id, &arguments), 0);
  }
  puts("went on");
  return 0;
}
