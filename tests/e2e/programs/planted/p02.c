// SPDX-License-Identifier: Apache-2.0
#include <time.h>

static void spend(int microseconds) {
  struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000L};
  while (nanosleep(&time, &time) != 0) {
  }
}

enum { kBlocks = 20 };
static double blocks[kBlocks];
static int state;

__attribute__((noinline)) static void step(void) {
  for (int b = 0; b < kBlocks; ++b) {
#pragma omp task depend(inout : blocks[b]) depend(inout : state)
    {
      spend(15000);
      blocks[b] += state;
    }
  }
}

int main(void) {
  state = 1;
#pragma omp parallel
#pragma omp single
  step();
  return blocks[3] != 1;
}
