/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory from a predefined allocator inside of a region.
 *
 * Covers: target
 */
#include "../device.h"

int main(void) {
  int result = 0;
#pragma omp target uses_allocators(omp_default_mem_alloc) map(tofrom : result)
  {
    int* number = omp_alloc(sizeof *number, omp_default_mem_alloc);
    *number = 5;
    result = *number;
    omp_free(number, omp_default_mem_alloc);
  }
  CHECK_EQ(result, 5);
  return 0;
}
