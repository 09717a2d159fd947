// SPDX-License-Identifier: Apache-2.0
#include <time.h>

static void spend(int microseconds) {
  struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000L};
  while (nanosleep(&time, &time) != 0) {
  }
}

enum { kCells = 1280, kPart = 320 };
static double cells[kCells], sums[kCells / kPart];

__attribute__((noinline)) static void step(int first) {
  for (int c = first; c < first + kPart; ++c) {
#pragma omp task
    {
      spend(100);
      cells[c] += 1;
    }
  }
#pragma omp task
  {
    spend(120000);
    sums[first / kPart] += 1;
  }
}

int main(void) {
#pragma omp parallel
#pragma omp single
  for (int first = 0; first < kCells; first += kPart) step(first);
  return cells[1] != 1;
}
