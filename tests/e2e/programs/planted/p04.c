// SPDX-License-Identifier: Apache-2.0
#include <time.h>

static void spend(int microseconds) {
  struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000L};
  while (nanosleep(&time, &time) != 0) {
  }
}

enum { kBlocks = 3 };
static double blocks[kBlocks];

__attribute__((noinline)) static void step(void) {
  for (int b = 0; b < kBlocks; ++b) {
#pragma omp task depend(inout : blocks[b])
    {
      spend(80000);
      blocks[b] += 1;
    }
  }
#pragma omp taskwait
}

int main(void) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 2; ++i) step();
  return blocks[1] != 2;
}
