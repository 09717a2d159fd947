// SPDX-License-Identifier: Apache-2.0
#include <time.h>

static void spend(int microseconds) {
  struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000L};
  while (nanosleep(&time, &time) != 0) {
  }
}

enum { kCells = 200 };
static double cells[kCells];

static int find(int c) {
  spend(1500);
  return c * 7 % kCells;
}

static void relax(int c, int from) {
  spend(900);
  cells[c] += cells[from];
}

__attribute__((noinline)) static void step(void) {
  for (int c = 0; c < kCells; ++c) {
    int from = find(c);
#pragma omp task
    relax(c, from);
  }
}

int main(void) {
#pragma omp parallel
#pragma omp single
  step();
  return cells[1] != 0;
}
