// SPDX-License-Identifier: Apache-2.0
#include <time.h>

static void spend(int microseconds) {
  struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000L};
  while (nanosleep(&time, &time) != 0) {
  }
}

enum { kBlocks = 21 };
static double blocks[kBlocks];

static void relax(int b) {
  spend(b == kBlocks / 2 ? 140000 : 10000);
  blocks[b] += 1;
}

__attribute__((noinline)) static void step(void) {
  for (int b = 0; b < kBlocks; ++b) {
#pragma omp task depend(inout : blocks[b])
    relax(b);
  }
}

int main(void) {
#pragma omp parallel
#pragma omp single
  step();
  return blocks[1] != 1;
}
