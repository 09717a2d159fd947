// SPDX-License-Identifier: Apache-2.0
#include <time.h>

static void spend(int microseconds) {
  struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000L};
  while (nanosleep(&time, &time) != 0) {
  }
}

static double values[8], sum;

static void step(void) {
#pragma omp parallel for
  for (int i = 0; i < 8; ++i) {
    spend(5000);
    values[i] += 1;
  }
}

static void combine(void) {
  for (int i = 0; i < 8; ++i) {
    spend(4000);
    sum += values[i];
  }
}

int main(void) {
  for (int i = 0; i < 6; ++i) {
    step();
    combine();
  }
  return sum != 168;
}
