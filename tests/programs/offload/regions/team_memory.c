/* SPDX-License-Identifier: Apache-2.0
 *
 * A region that asks for 4 KiB of memory for each of its three teams. What reaches the GPU's driver is in its log.
 */
#include <stdio.h>

int main(void) {
  int x = 0;
#pragma omp target teams num_teams(3) thread_limit(32) ompx_dyn_cgroup_mem(4096) map(tofrom : x)
  {
#pragma omp atomic write
    x = 1;
  }
  printf("x %d\n", x);
  return x != 1;
}
