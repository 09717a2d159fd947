/* SPDX-License-Identifier: Apache-2.0
 *
 * The library of images.c, with kernels and variables of its own.
 */
#pragma omp begin declare target
static int mine = 5;
static int twice(int x) { return 3 * x; }
#pragma omp end declare target

int from_library(int device) {
  int result = 0;
#pragma omp target device(device) map(from : result)
  {
    mine += 100;
    result = twice(mine);
  }
  return result;
}
