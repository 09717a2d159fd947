/* SPDX-License-Identifier: Apache-2.0
 *
 * Usage: cluster_unordered [unordered]. Deferred constructs that use each other's data. They are ordered the first
 * time; with `unordered`, they do the same without an order once more. */
#include <stdio.h>
#include <unistd.h>

static double x[100], y[100], z[100];

static void enter_and_use(int* first, int* second) {
#pragma omp target nowait depend(inout : *first, z[0 : 100]) map(tofrom : z)
  {
    usleep(30000);
    z[0] += 1;
  }
#pragma omp target enter data nowait map(to : x) depend(inout : *first)
#pragma omp target nowait depend(inout : *second, x[0 : 100]) map(tofrom : x)
  {
    usleep(30000);
    x[1] += 2;
  }
#pragma omp taskwait
#pragma omp target exit data map(from : x)
}

static void use_and_exit(int* first, int* second) {
#pragma omp target enter data map(to : y)
#pragma omp target nowait depend(inout : *first, y[0 : 100]) map(tofrom : y)
  {
    usleep(30000);
    y[1] += 3;
  }
#pragma omp target exit data nowait map(from : y) depend(inout : *second)
#pragma omp taskwait
}

int main(int count, char** words) {
  (void)words;
  int a = 0, b = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < count; ++i) {
    enter_and_use(&a, i == 0 ? &a : &b);
    use_and_exit(&a, i == 0 ? &a : &b);
  }
  printf("good=%d\n", z[0] == count && x[1] == 2 * count && y[1] == 3 * count);
  return 0;
}
