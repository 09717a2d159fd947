// SPDX-License-Identifier: Apache-2.0
// The additions hold one lock.
// Expect: clean
#include <stdio.h>
#include <omp.h>

static int sum;

static int run(void) {
  omp_lock_t lock;
  omp_init_lock(&lock);
  for (int i = 1; i <= 20; i++) {
#pragma omp task shared(lock)
    {
      omp_set_lock(&lock);
      sum += i;
      omp_unset_lock(&lock);
    }
  }
#pragma omp taskwait
  omp_destroy_lock(&lock);
  return sum != 210;
}

int main(void) {
  int failed = 0;
#pragma omp parallel
#pragma omp single
  failed = run();
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
