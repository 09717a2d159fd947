/* SPDX-License-Identifier: Apache-2.0
 *
 * A transfer above 2 GiB in both directions: its length does not fit in 31 bits. Needs twice that memory; with less
 * free memory it says so and does nothing.
 *
 * Covers: target(map), target update(from)
 */
#include "device.h"

static long free_megabytes(void) {
  FILE *info = fopen("/proc/meminfo", "r");
  char line[100];
  long kilobytes = 0;
  while (info && fgets(line, sizeof line, info))
    if (sscanf(line, "MemAvailable: %ld", &kilobytes) == 1)
      break;
  if (info)
    fclose(info);
  return kilobytes / 1024;
}

int main(void) {
  size_t size = (2UL << 30) + (64UL << 20), page = 4096;
  if (free_megabytes() < (long)(size >> 20) * 2 + 2048) {
    puts("skipped: needs 7 GiB of free memory");
    return 0;
  }
  char *block = calloc(size, 1);
  CHECK(block != NULL);
  block[0] = 1, block[size / 2] = 2, block[size - 1] = 3;
  long sum = 0;
#pragma omp target enter data map(to : block[0 : size])
#pragma omp target map(tofrom : sum) map(to : block[0 : size])
  {
    sum = block[0] + 10 * block[size / 2] + 100 * block[size - 1];
    for (size_t i = 0; i < size; i += 16 * page)
      block[i] = 7;
    block[size - 1] = 9;
  }
#pragma omp target exit data map(from : block[0 : size])
  CHECK_EQ(sum, 321);
  for (size_t i = 0; i < size; i += 16 * page)
    CHECK_EQ(block[i], 7);
  CHECK_EQ(block[size - 1], 9);
  free(block);
  return 0;
}
