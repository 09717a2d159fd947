/* SPDX-License-Identifier: Apache-2.0
 *
 * What one small construct takes with its answer: a number that is mapped to the device and brought back, by a target
 * data construct around nothing, and an empty region.
 *
 * Figures in us: `map_8`, the construct with 8 bytes to and from the device, with their allocation; `region`; both as
 * the median, and as `_p99`, which 99 of 100 do not exceed; and `_idle`, the median of the constructs that come when
 * the device has had nothing to do for 5 ms.
 */
#include "device.h"

#include <unistd.h>

enum { kTimes = 2000, kIdleTimes = 50, kIdle = 5000 };

static void map_8(double* number) {
#pragma omp target data map(tofrom : number[0 : 1])
  {
    __asm__ volatile("" ::: "memory");
  }
}

static void region(double* number) {
  (void)number;
#pragma omp target
  {
  }
}

static int ascending(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void measure(const char* name, void (*construct)(double*)) {
  static double took[kTimes];
  static double number = 1;
  char figure[kBenchLine];
  for (int i = 0; i < kTimes; ++i) {
    double begin = bench_now();
    construct(&number);
    took[i] = 1e-3 * (bench_now() - begin);
  }
  if (number != 1) bench_fail("%s: the number is %g", name, number);
  qsort(took, kTimes, sizeof *took, ascending);
  bench_say(name, took[kTimes / 2], "us");
  snprintf(figure, sizeof figure, "%s_p99", name);
  bench_say(figure, took[kTimes - kTimes / 100], "us");
  for (int i = 0; i < kIdleTimes; ++i) {
    usleep(kIdle);
    double begin = bench_now();
    construct(&number);
    took[i] = 1e-3 * (bench_now() - begin);
  }
  snprintf(figure, sizeof figure, "%s_idle", name);
  bench_say(figure, bench_median(took, kIdleTimes), "us");
}

int main(void) {
  device_begin();
  measure("map_8", map_8);
  measure("region", region);
  return 0;
}
