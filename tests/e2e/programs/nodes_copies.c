/* SPDX-License-Identifier: Apache-2.0
 *
 * test_nodes_seen.py: kBlocks blocks of kBytes bytes go to device 0, from there to device 1, and back to the host, by
 * routines; then a construct maps one more to device 1 and back. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBlocks = 4, kBytes = 1 << 20 };

int main(void) {
  int host = omp_get_initial_device();
  char* data = malloc(kBytes);
  for (int b = 0; b < kBlocks; b++) {
    char *first = omp_target_alloc(kBytes, 0), *second = omp_target_alloc(kBytes, 1);
    memset(data, b + 1, kBytes);
    if (omp_target_memcpy(first, data, kBytes, 0, 0, 0, host) != 0) return 1;
    if (omp_target_memcpy(second, first, kBytes, 0, 0, 1, 0) != 0) return 1;
    memset(data, 0, kBytes);
    if (omp_target_memcpy(data, second, kBytes, 0, 0, host, 1) != 0) return 1;
    if (data[kBytes - 1] != b + 1) return 1;
    omp_target_free(first, 0);
    omp_target_free(second, 1);
  }
#pragma omp target map(tofrom : data[0 : kBytes]) device(1)
  data[0]++;
  printf("%d\n", data[0]);
  return 0;
}
