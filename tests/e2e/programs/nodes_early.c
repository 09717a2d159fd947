// SPDX-License-Identifier: Apache-2.0
//
// test_nodes_ends.py: a constructor and main run a target region each. Prints in which of them it ran in another
// process.
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

static int value, early;

static int add(int addend) {
  int process = 0;
#pragma omp target map(tofrom : value) map(from : process)
  {
    value += addend;
    process = getpid();
  }
  return process != getpid();
}

__attribute__((constructor)) static void before_main(void) { early = add(5); }

int main(void) {
  int late = add(1);
  printf("devices %d value %d elsewhere %d %d\n", omp_get_num_devices(), value, early, late);
  return 0;
}
