/* SPDX-License-Identifier: Apache-2.0
 *
 * A device with memory of its own, in a program that requires one memory: it ends with a line at its first construct.
 *
 * Covers: requires(unified_shared_memory)
 */
#include "../../check.h"

#pragma omp requires unified_shared_memory

int main(void) {
  int x = 0;
#pragma omp target map(tofrom : x)
  x++;
  printf("went on\n");
  return 0;
}
