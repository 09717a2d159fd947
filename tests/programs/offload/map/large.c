/* SPDX-License-Identifier: Apache-2.0
 *
 * A transfer above 2 GiB in both directions: its length does not fit in 31 bits. The host's block is one file of 64 MiB
 * in memory, mapped again and again, so only the device's takes gigabytes. With too little free memory the program says
 * so and does nothing.
 *
 * Covers: target(map:to), target enter data(map:to), target exit data(map:from)
 */
#include "../device.h"
#include <sys/mman.h>

#define CHUNK (64UL << 20)
#define SIZE ((2UL << 30) + CHUNK + CHUNK / 2)
#define PRIME 251

static long free_megabytes(void) {
  FILE* info = fopen("/proc/meminfo", "r");
  char line[100];
  long kilobytes = 0;
  while (info && fgets(line, sizeof line, info))
    if (sscanf(line, "MemAvailable: %ld", &kilobytes) == 1) break;
  if (info) fclose(info);
  return kilobytes / 1024;
}

static unsigned char* many_times_the_same(void) {
  int file = memfd_create("chunk", MFD_CLOEXEC);
  CHECK(file >= 0 && ftruncate(file, CHUNK) == 0);
  unsigned char* block = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(block != MAP_FAILED);
  for (size_t at = 0; at < SIZE; at += CHUNK) {
    size_t bytes = SIZE - at < CHUNK ? SIZE - at : CHUNK;
    CHECK(mmap(block + at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == block + at);
  }
  close(file);
  return block;
}

int main(void) {
  if (free_megabytes() < 4096) {
    puts("skipped: needs 4 GiB of free memory");
    return 0;
  }
  unsigned char* block = many_times_the_same();
  for (size_t i = 0; i < CHUNK; i++) block[i] = (unsigned char)(i % PRIME);
  long wrong = 0;
#pragma omp target enter data map(to : block[0 : SIZE])
#pragma omp target map(tofrom : wrong) map(to : block[0 : SIZE])
  {
    for (size_t i = 0; i < SIZE; i += 4096 + 1) wrong += block[i] != i % CHUNK % PRIME;
    wrong += block[SIZE - 1] != (SIZE - 1) % CHUNK % PRIME;
    block[SIZE - 1] = 255; /* what comes back last */
    block[SIZE - 4096] = 254;
  }
  CHECK_EQ(wrong, 0);
  CHECK_COPY(block[SIZE - 1] != 255, 1, 0);
#pragma omp target exit data map(from : block[0 : SIZE])
  CHECK_EQ(block[SIZE - 1], 255);
  CHECK_EQ(block[SIZE - 4096], 254);
  CHECK_EQ(block[0], 0);
  return 0;
}
