/* SPDX-License-Identifier: Apache-2.0
 *
 * Resident memory of the process, for programs that use much of a resource and give it back. Includes check.h.
 */
#ifndef PROGRAMS_SCALE_MEMORY_H
#define PROGRAMS_SCALE_MEMORY_H

#include "../check.h"

static inline long resident_kib(void) {
  FILE *file = fopen("/proc/self/statm", "r");
  CHECK(file != NULL);
  long pages = 0;
  CHECK_EQ(fscanf(file, "%*d %ld", &pages), 1);
  fclose(file);
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* What threads give back when they fall asleep comes back within 30 seconds. */
static inline void expect_resident_below(long kib, const char *what) {
  for (int i = 0; i < 3000 && resident_kib() > kib; i++)
    usleep(10 * 1000);
  printf("%s: %ld KiB resident, %ld KiB allowed\n", what, resident_kib(), kib);
  CHECK_RANGE(resident_kib(), 0, kib);
}

#endif
