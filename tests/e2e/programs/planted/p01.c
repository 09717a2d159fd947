// SPDX-License-Identifier: Apache-2.0
#include <time.h>

static void spend(int microseconds) {
  struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000L};
  while (nanosleep(&time, &time) != 0) {
  }
}

static double sum;

static void step(int i) {
  spend(2000);
#pragma omp critical
  {
    spend(6000);
    sum += i;
  }
}

int main(void) {
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < 40; ++i) step(i);
  return sum != 780;
}
