// SPDX-License-Identifier: Apache-2.0
//
// tests/e2e/report/test_loops.py: loops of two threads without tasks. Work is sleep, so that other programs on the
// machine change little. The test finds the lines by the words in capital letters.
#include <time.h>

static volatile int done;  // after a region, so that the call of it is no jump

static void work(int milliseconds) {
  struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
  while (nanosleep(&time, &time) != 0) {
  }
}

// The first thread gets 10 ms, the second one 40 ms.
__attribute__((noinline)) static void relax(void) {
#pragma omp parallel for schedule(static)  // UNEQUAL
  for (int i = 0; i < 4; ++i) work(i < 2 ? 5 : 20);
  done = 1;
}

__attribute__((noinline)) static void several(void) {
#pragma omp parallel  // SEVERAL
  {
#pragma omp for schedule(dynamic)  // DYNAMIC
    for (int i = 0; i < 8; ++i) work(5);
#pragma omp single  // SINGLE
    work(10);
#pragma omp for  // CRITICAL
    for (int i = 0; i < 2; ++i) {
#pragma omp critical
      work(15);
    }
  }
  done = 2;
}

int main(void) {
  for (int step = 0; step < 3; ++step) relax();
  work(25);
  several();
  return 0;
}
