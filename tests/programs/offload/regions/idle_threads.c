/* SPDX-License-Identifier: Apache-2.0
 *
 * A device with four threads: while three regions run, a fourth one runs beside them. They wait for it.
 *
 * Covers: parallel, single, target(nowait, map), target enter data(map:to), target exit data(map:from), taskwait
 */
#include "../device.h"

enum { kRounds = 5, kRegions = 3 };

static void round_of_regions(void) {
  volatile int go = 0;
  int in_vain = 0;
#pragma omp target enter data map(to : go, in_vain)
  for (int i = 0; i < kRegions; i++) {
#pragma omp target nowait map(alloc : go, in_vain)
    {
      for (int ms = 0; ms < 4000 && !go; ms++) usleep(1000);
      if (!go) in_vain = 1;
    }
    usleep(10000); /* one after the other, so that idle threads of the device fall asleep */
  }
#pragma omp target map(alloc : go)
  go = 1;
#pragma omp taskwait
#pragma omp target exit data map(from : in_vain) map(release : go)
  CHECK_EQ(in_vain, 0);
}

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < kRounds; i++) round_of_regions();
  return 0;
}
