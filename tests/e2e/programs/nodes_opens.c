// SPDX-License-Identifier: Apache-2.0
//
// test_nodes.py: opens the library that its argument names when a device has been used, and runs its regions on each.
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

typedef int Function(int device, int* process);

int main(int count, char** arguments) {
  int value = 0, process = 0;
#pragma omp target map(from : value)
  value = 5;
  void* library = count == 2 ? dlopen(arguments[1], RTLD_NOW) : NULL;
  if (library == NULL) return 2;
  Function* in_library = (Function*)dlsym(library, "in_library");
  for (int d = 0; d < omp_get_num_devices(); ++d) {
    value += in_library(d, &process);
    printf("device %d %s\n", d, process != getpid() ? "another process" : "this process");
  }
  printf("value %d\n", value);
  return dlclose(library);
}
