/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints how many threads a parallel region gets, in the program and on each of its devices. */
#include <omp.h>
#include <stdio.h>

int main(void) {
  printf("%d", omp_get_max_threads());
  for (int device = 0; device < omp_get_num_devices(); device++) {
    int threads = 0;
#pragma omp target device(device) map(from : threads)
    threads = omp_get_max_threads();
    printf(" %d", threads);
  }
  puts("");
  return 0;
}
