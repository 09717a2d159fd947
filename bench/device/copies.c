/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies between the program and a device by omp_target_memcpy, beside memcpy between two blocks of the program, in
 * turns: 64 MiB (--mib), far beyond the caches, and 1 KiB.
 *
 * Figures: `memcpy`, `to` and `from`, the speed in GB/s; `to_share` and `from_share`, that speed over memcpy's, the
 * median over the rounds, so that what slows a round down counts on both sides; `memcpy_1k`, `to_1k` and `from_1k`, the
 * time of a copy of 1 KiB.
 *
 * All blocks begin with a page, as the blocks of devices do. Large blocks of malloc begin 16 bytes after a page begins;
 * and where addresses differ modulo 32, the kernel's copy, which MPI uses within a machine, is slower by a third to a
 * half on some processors.
 */
#include "device.h"

enum { kPage = 4096, kRounds = 9, kSmall = 1024, kSmallCopies = 2000, kKinds = 3 };
enum Kind { kMemcpy, kTo, kFrom };
static const char* const kName[kKinds] = {"memcpy", "to", "from"};

static char *here, *there_and_back, *device_block;
static int device, host;

static void copy(enum Kind kind, size_t bytes) {
  int fault = 0;
  if (kind == kMemcpy)
    memcpy(there_and_back, here, bytes);
  else if (kind == kTo)
    fault = omp_target_memcpy(device_block, here, bytes, 0, 0, device, host);
  else
    fault = omp_target_memcpy(there_and_back, device_block, bytes, 0, 0, host, device);
  if (fault) bench_fail("copies: omp_target_memcpy says %d", fault);
  __asm__ volatile("" ::: "memory"); /* memcpy's bytes are wanted, as far as the compiler knows */
}

static double timed(enum Kind kind, size_t bytes, int copies) {
  double begin = bench_now();
  for (int i = 0; i < copies; ++i) copy(kind, bytes);
  return (bench_now() - begin) / copies;
}

static void fill(size_t bytes, int round) {
  for (size_t i = 0; i < bytes; ++i) here[i] = (char)(i * 31 + (size_t)round);
}

/* The bytes have gone to the device and come back. */
static void check(size_t bytes) {
  if (memcmp(here, there_and_back, bytes) != 0) bench_fail("copies: other bytes came back");
}

static void measure(size_t bytes, int copies, double times[kKinds][kRounds]) {
  for (int round = -1; round < kRounds; ++round) { /* one to begin with: every page is touched */
    fill(bytes, round);
    double spent[kKinds];
    spent[kMemcpy] = timed(kMemcpy, bytes, copies);
    memset(there_and_back, 0, bytes);
    spent[kTo] = timed(kTo, bytes, copies);
    spent[kFrom] = timed(kFrom, bytes, copies);
    check(bytes);
    for (int kind = 0; kind < kKinds && round >= 0; ++kind) times[kind][round] = spent[kind];
  }
}

static void large(size_t bytes) {
  double times[kKinds][kRounds], shares[kRounds];
  char name[kBenchLine];
  measure(bytes, 1, times);
  for (int kind = kTo; kind < kKinds; ++kind) {
    for (int round = 0; round < kRounds; ++round) shares[round] = times[kMemcpy][round] / times[kind][round];
    snprintf(name, sizeof name, "%s_share", kName[kind]);
    bench_say(name, bench_median(shares, kRounds), "x");
  }
  for (int kind = 0; kind < kKinds; ++kind)
    bench_say(kName[kind], (double)bytes / bench_median(times[kind], kRounds), "GB/s");
}

static void small(void) {
  double times[kKinds][kRounds];
  char name[kBenchLine];
  measure(kSmall, kSmallCopies, times);
  for (int kind = 0; kind < kKinds; ++kind) {
    snprintf(name, sizeof name, "%s_1k", kName[kind]);
    bench_say(name, bench_median(times[kind], kRounds), "ns");
  }
}

int main(int argc, char** argv) {
  size_t bytes = (size_t)64 << 20;
  if (argc == 3 && !strcmp(argv[1], "--mib"))
    bytes = (size_t)device_number(argv[1], argv[2], 1024) << 20;
  else if (argc != 1)
    bench_fail("usage: %s [--mib MIB]", argv[0]);
  device_begin();
  device = omp_get_default_device();
  host = omp_get_initial_device();
  here = aligned_alloc(kPage, bytes);
  there_and_back = aligned_alloc(kPage, bytes);
  device_block = omp_target_alloc(bytes, device);
  if (!here || !there_and_back || !device_block) bench_fail("copies: not enough memory");
  large(bytes);
  small();
  omp_target_free(device_block, device);
  free(there_and_back);
  free(here);
  return 0;
}
