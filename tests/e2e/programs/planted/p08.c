// SPDX-License-Identifier: Apache-2.0
#include <time.h>

static void spend(int microseconds) {
  struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000L};
  while (nanosleep(&time, &time) != 0) {
  }
}

static double values[8];

static void step(void) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < 8; ++i) {
    spend(i < 4 ? 4000 : 16000);
    values[i] += 1;
  }
}

int main(void) {
  for (int i = 0; i < 6; ++i) step();
  return values[1] != 6;
}
