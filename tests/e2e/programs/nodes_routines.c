/* SPDX-License-Identifier: Apache-2.0
 *
 * No target construct. Prints a line for each process that runs main, with what has come back from device 0. */
#include <omp.h>
#include <stdio.h>

int main(void) {
  int value = 0, sent = 7, host = omp_get_initial_device();
#pragma omp parallel
#pragma omp single
  {
    void* memory = omp_target_alloc(sizeof sent, 0);
    omp_target_memcpy(memory, &sent, sizeof sent, 0, 0, 0, host);
    omp_target_memcpy(&value, memory, sizeof value, 0, 0, host, 0);
    omp_target_free(memory, 0);
  }
  printf("value=%d\n", value);
  return 0;
}
