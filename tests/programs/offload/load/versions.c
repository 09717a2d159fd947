/* SPDX-License-Identifier: Apache-2.0
 *
 * One process with code of several versions of Clang, each of which asks for a libomptarget by another name: two
 * libraries that the program needs, and one that it opens. They share the devices and what is mapped there. (With
 * LLVM's own libraries there are several runtimes then, and the process dies.)
 *
 * Covers: target(map), target data(map)
 */
#include "../device.h"

#define N 4

int weighted_sum_14(const int* data, int n);
int weighted_sum_16(const int* data, int n);

int main(int argc, char** argv) {
  int data[N] = {1, 2, 3, 4}, sum = 0;
  void* library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
  if (!library)
    check_failed(__FILE__, __LINE__, "the library of Clang 22: %s", argc > 1 ? dlerror() : "no path is given");
  int (*weighted_sum_22)(const int*, int) = (int (*)(const int*, int))dlsym(library, "weighted_sum_22");
  CHECK(weighted_sum_22 != NULL);
#pragma omp target data map(to : data)
  {
    CHECK_PRESENT(data, 1);
    for (int round = 1; round <= 3; round++) {
      CHECK_EQ(weighted_sum_14(data, N), 10 * round);
      CHECK_EQ(weighted_sum_16(data, N), 10 * round);
      CHECK_EQ(weighted_sum_22(data, N), 10 * round);
#pragma omp target map(tofrom : sum)
      for (int i = 0; i < N; i++) sum += data[i];
    }
  }
  CHECK_EQ(sum, 30);
  CHECK_PRESENT(data, 0);
  return 0;
}
