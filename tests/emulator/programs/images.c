/* SPDX-License-Identifier: Apache-2.0
 *
 * A program and its shared library each have images of their own, with functions and variables of the same name; each
 * kernel meets its own. images_library.c is the other half.
 */
#include "emulated.h"

int from_library(int device);

#pragma omp begin declare target
static int mine = 1;
static int twice(int x) { return 2 * x; }
#pragma omp end declare target

static int from_program(int device) {
  int result = 0;
#pragma omp target device(device) map(from : result)
  {
    mine += 10;
    result = twice(mine);
  }
  return result;
}

int main(void) {
  for (int d = 0; d < omp_get_num_devices(); d++) {
    CHECK_EQ(from_program(d), 22);
    CHECK_EQ(from_library(d), 3 * 105);
    CHECK_EQ(from_program(d), 42);
    CHECK_EQ(from_library(d), 3 * 205);
  }
  CHECK_EQ(emulated(kKernels), 4 * omp_get_num_devices());
  return 0;
}
