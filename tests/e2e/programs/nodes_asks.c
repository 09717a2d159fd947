// SPDX-License-Identifier: Apache-2.0
//
// test_nodes.py: without a target region.
#include <omp.h>
#include <stdio.h>

int main(void) {
  puts("main");
  printf("devices %d\n", omp_get_num_devices());
  return 0;
}
