/* SPDX-License-Identifier: Apache-2.0
 *
 * What the benchmarks of devices share, on top of bench.h: which library serves target regions, the program's memory,
 * and the program's CPU time. On emulated GPUs (tests/emulator) a thread of the program plays the device; its CPU time
 * is taken off, as a real device has a processor of its own. What the driver does on the caller's thread stays in.
 * Owned by the program's main thread.
 */
#ifndef MARLINE_BENCH_DEVICE_H
#define MARLINE_BENCH_DEVICE_H

#include "bench.h"

#include "../../tests/emulator/counts.h"
#include <omp.h>

/* 0 where there is no emulated driver. */
static inline unsigned long long device_count(int what) {
  static unsigned long long (*count)(int);
  static int asked;
  if (!asked) {
    void* driver = dlopen("libcuda.so", RTLD_NOW | RTLD_NOLOAD);
    count = driver ? (unsigned long long (*)(int))dlsym(driver, "marline_emulator_count") : NULL;
    asked = 1;
  }
  return count ? count(what) : 0;
}

/* Nanoseconds of all threads of the program but the emulator's. Children, such as emulated devices, do not count. */
static inline double device_cpu_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec - (double)device_count(kEngineTime);
}

/* Bytes: a line of /proc/self/status, "VmRSS:" or "VmHWM:". */
static inline double device_memory(const char* line) {
  char text[256];
  long kilobytes = -1;
  FILE* file = fopen("/proc/self/status", "r");
  while (file && fgets(text, sizeof text, file))
    if (!strncmp(text, line, strlen(line))) kilobytes = atol(text + strlen(line));
  if (kilobytes < 0) bench_fail("/proc/self/status has no %s", line);
  fclose(file);
  return 1024.0 * (double)kilobytes;
}

/* Makes sure that there is a device, and that everything has been used once: images are loaded now, not when the clock
 * runs. Says which libraries serve the program. */
static inline void device_begin(void) {
  extern void __tgt_target_kernel(void);
  Dl_info info;
  int on_host = 0; /* so it stays on emulated devices that do not compute */
  bench_name_runtime();
  if (!dladdr((void*)__tgt_target_kernel, &info) || !info.dli_fname) bench_fail("no shared object has target regions");
  printf("# targets %s\n", info.dli_fname);
  if (omp_get_num_devices() == 0) bench_fail("there is no device");
#pragma omp target map(from : on_host)
  on_host = omp_is_initial_device();
  if (on_host) bench_fail("the region ran on the host");
  device_count(kKernels); /* the driver is there now */
}

static inline long device_number(const char* option, const char* text, long most) {
  char* end;
  long value = text ? strtol(text, &end, 10) : 0;
  if (value < 1 || value > most || *end != '\0')
    bench_fail("%s wants a number from 1 to %ld, not %s", option, most, text ? text : "nothing");
  return value;
}

#endif
