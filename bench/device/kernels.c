/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that take long, asked for by tasks of few threads: 32 tasks of one `target` region each, without `nowait` and
 * with it. A runtime that blocks a thread for each region takes 32 times the kernel's time on one thread; one that lets
 * the device work takes it once, if the device runs 32 kernels at a time. Meant for emulated GPUs with
 * MARLINE_EMULATOR_KERNEL_TIME=20000 (microseconds) and MARLINE_EMULATOR_KERNELS=32.
 *
 * Figures: `blocking` and `deferred`, wall time of all 32; `blocking_cpu` and `deferred_cpu`, the program's CPU time.
 */
#include "device.h"

enum { kTasks = 32, kSamples = 5 };
static double data[kTasks];

/* The construct is the body of a task of the user's: what programs write that were made for one kernel at a time. */
static void blocking(void) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < kTasks; ++i) {
#pragma omp task firstprivate(i)
    {
#pragma omp target map(to : i)
      data[i] += 1;
    }
  }
}

static void deferred(void) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < kTasks; ++i) {
#pragma omp target nowait firstprivate(i)
    data[i] += 1;
  }
}

static void check(const char* name, double times) {
#pragma omp target update from(data)
  for (int i = 0; i < kTasks; ++i)
    if (data[i] != times) bench_fail("%s: element %d is %g, not %g", name, i, data[i], times);
}

static void measure(const char* name, void (*body)(void)) {
  double wall[kSamples], cpu[kSamples];
  char line[kBenchLine];
  for (int i = 0; i < kTasks; ++i) data[i] = 0;
#pragma omp target update to(data)
  body(); /* threads and streams are there */
  check(name, 1);
  for (int s = 0; s < kSamples; ++s) {
    double begin = bench_now(), begin_cpu = device_cpu_now();
    body();
    wall[s] = 1e-6 * (bench_now() - begin);
    cpu[s] = 1e-6 * (device_cpu_now() - begin_cpu);
    check(name, s + 2);
  }
  bench_say(name, bench_median(wall, kSamples), "ms");
  snprintf(line, sizeof line, "%s_cpu", name);
  bench_say(line, bench_median(cpu, kSamples), "ms");
}

int main(void) {
  device_begin();
#pragma omp target enter data map(to : data)
  measure("blocking", blocking);
  measure("deferred", deferred);
#pragma omp target exit data map(release : data)
  return 0;
}
