// SPDX-License-Identifier: Apache-2.0
//
// The library of nodes_opens.c.
#include <unistd.h>

int in_library(int device, int* process) {
  int value = 40, own = 0;
#pragma omp target device(device) map(tofrom : value) map(from : own)
  {
    value += 1;
    own = getpid();
  }
  *process = own;
  return value;
}
