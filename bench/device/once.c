/* SPDX-License-Identifier: Apache-2.0
 *
 * The shortest program that uses a device: one region. For start_end.py, which times its life. Says `first VALUE ms`,
 * what the region takes, which starts the device.
 */
#include <omp.h>
#include <stdio.h>

int main(void) {
  int on_host = 1;
  double begin = omp_get_wtime();
#pragma omp target map(from : on_host)
  on_host = omp_is_initial_device();
  printf("first %.3f ms\n", 1e3 * (omp_get_wtime() - begin));
  if (on_host) fprintf(stderr, "bench: the region ran on the host\n");
  return on_host;
}
