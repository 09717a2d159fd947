/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory from allocators inside of regions: a predefined one, and one that the clause makes of traits.
 *
 * Covers: target
 */
#include "device.h"

int main(void) {
  int results[2] = {0};
#pragma omp target uses_allocators(omp_default_mem_alloc) map(tofrom : results)
  {
    int *number = omp_alloc(sizeof *number, omp_default_mem_alloc);
    *number = 5;
    results[0] = *number;
    omp_free(number, omp_default_mem_alloc);
  }
  CHECK_EQ(results[0], 5);
  omp_alloctrait_t traits[1] = {{omp_atk_alignment, 128}};
  omp_allocator_handle_t aligned = omp_null_allocator;
#pragma omp target uses_allocators(aligned(traits)) map(tofrom : results)
  {
    int *number = omp_alloc(sizeof *number, aligned);
    results[1] = (unsigned long)number % 128 == 0;
    omp_free(number, aligned);
  }
  CHECK_EQ(results[1], 1);
  return 0;
}
