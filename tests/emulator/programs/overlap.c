/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels and copies of deferred regions overlap on the device as far as its settings allow: arguments are the least
 * milliseconds that REGIONS regions of 50 ms may take, and the least and the most for the greatest number of kernels at
 * the same time.
 *
 *     overlap MILLISECONDS LEAST MOST
 */
#include "emulated.h"

#define REGIONS 8
#define N 1024

static void run(int* data) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < REGIONS; i++) {
#pragma omp target nowait map(tofrom : data[i * N : N]) firstprivate(i)
    for (int j = 0; j < N; j++) data[i * N + j] += i + j;
  }
}

int main(int argc, char** argv) {
  CHECK_EQ(argc, 4);
  static int data[REGIONS * N];
#pragma omp target
  {
  } /* the device starts */
  double start = omp_get_wtime();
  run(data);
  double milliseconds = (omp_get_wtime() - start) * 1e3;
  for (int i = 0; i < REGIONS; i++)
    for (int j = 0; j < N; j++) CHECK_EQ(data[i * N + j], i + j);
  CHECK_EQ(emulated(kKernels), REGIONS + 1);
  CHECK(milliseconds >= atoi(argv[1]));
  CHECK_RANGE(emulated(kMostKernels), atoi(argv[2]), atoi(argv[3]));
  return 0;
}
