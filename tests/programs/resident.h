/* SPDX-License-Identifier: Apache-2.0
 *
 * Resident memory of the process, for programs that use much of a resource and give it back. Includes check.h.
 */
#ifndef PROGRAMS_RESIDENT_H
#define PROGRAMS_RESIDENT_H

#include "check.h"

static inline long resident_bytes(void) {
  FILE* file = fopen("/proc/self/statm", "r");
  CHECK(file != NULL);
  long pages = 0;
  CHECK_EQ(fscanf(file, "%*d %ld", &pages), 1);
  fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

static inline long resident_kib(void) { return resident_bytes() / 1024; }

/* Under a sanitizer, which keeps several bytes for each and its own account of what was freed, 32 times as much. */
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
enum { kSanitizerShare = 32 };
#else
enum { kSanitizerShare = 1 };
#endif

/* Under qemu's user mode, the process holds qemu's memory, too: its table of translated code doubles at some moment,
 * which is 3,076 KiB in one block of the host's heap (version 7.2, by smaps, in 26 of 600 runs of `successors`). */
enum { kEmulatorKib = 4096 };

static inline void expect_growth_below(long before, long kib) {
  long emulator_kib = getenv("MARLINE_TEST_EMULATED") ? kEmulatorKib : 0;
  CHECK_RANGE(resident_kib() - before, -1000000, kib * kSanitizerShare + emulator_kib);
}

/* What threads give back when they fall asleep comes back within 30 seconds, but for `kib`. */
static inline void expect_back(long before, long kib, const char* what) {
  for (int i = 0; i < 3000 && resident_kib() - before > kib * kSanitizerShare; i++) usleep(10 * 1000);
  printf("%s: %ld KiB more than before\n", what, resident_kib() - before);
  expect_growth_below(before, kib);
}

#endif
