/* SPDX-License-Identifier: Apache-2.0
 *
 * Distances and extents above 2 GiB and above 4 GiB, in all that moves data, with few bytes in each: the memory between
 * them is never touched, so it takes none.
 *
 * Covers: target(map:alloc), target enter data(map:alloc), target exit data(map:release/from),
 *  target update(to, from), omp_target_alloc, omp_target_memcpy, omp_target_memcpy_rect, omp_target_is_present
 */
#include "../device.h"
#include <sys/mman.h>

#define ROW ((2UL << 30) + (1UL << 20)) /* does not fit in 31 bits; two of them not in 32 */
#define ROWS 3
#define SIZE (ROWS * ROW)
#define BYTES (1UL << 20)

static unsigned char* host;

static void* sparse(void) {
  void* memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(memory != MAP_FAILED);
  return memory;
}

static const size_t places[] = {0, (1UL << 31) - BYTES / 2, ROW, (1UL << 32) - BYTES / 2, SIZE - BYTES};
#define PLACES (sizeof places / sizeof *places)

static void fill(size_t at, int value) { memset(host + at, value, BYTES); }

static void expect(size_t at, int value) {
  CHECK_EQ(host[at], value);
  CHECK_EQ(host[at + BYTES / 2], value);
  CHECK_EQ(host[at + BYTES - 1], value);
}

static void updates(void) {
#pragma omp target enter data map(alloc : host[0 : SIZE])
  for (size_t p = 0; p < PLACES; p++) {
    size_t at = places[p];
    int first = -1, last = -1;
    fill(at, (int)p + 1);
#pragma omp target update to(host[at : BYTES])
    fill(at, 99);
#pragma omp target map(alloc : host[0 : SIZE]) map(from : first, last)
    {
      first = host[at], last = host[at + BYTES - 1];
      for (size_t i = 0; i < BYTES; i++) host[at + i] += 100;
    }
    CHECK_COPY(first, (int)p + 1, 99);
    CHECK_COPY(last, (int)p + 1, 99);
    CHECK(omp_target_is_present(host + at + BYTES - 1, omp_get_default_device()));
#pragma omp target update from(host[at : BYTES])
    expect(at, own_copies() ? (int)p + 101 : 199);
  }
#pragma omp target exit data map(release : host[0 : SIZE])
  /* A map that begins and ends beyond 4 GiB. */
  fill(SIZE - BYTES, 5);
#pragma omp target map(tofrom : host[SIZE - BYTES : BYTES])
  for (size_t i = 0; i < BYTES; i++) host[SIZE - BYTES + i] += 1;
  expect(SIZE - BYTES, 6);
}

static void routines(void) {
  int device = omp_get_default_device(), initial = omp_get_initial_device();
  unsigned char* there = omp_target_alloc(SIZE, device);
  CHECK(there != NULL);
  for (size_t p = 0; p < PLACES; p++) {
    size_t at = places[p], other = places[PLACES - 1 - p];
    fill(at, (int)p + 11);
    CHECK_EQ(omp_target_memcpy(there, host, BYTES, other, at, device, initial), 0);
    fill(at, 0);
    CHECK_EQ(omp_target_memcpy(host, there, BYTES, at, other, initial, device), 0);
    expect(at, (int)p + 11);
  }
  /* Rectangles of 2 rows and few columns, in the last two rows of the host's and the first two of the device's. */
  size_t volume[] = {2, BYTES}, rows[] = {ROWS, ROW}, in_host[] = {1, ROW - BYTES}, there_at[] = {0, BYTES};
  fill(2 * ROW - BYTES, 21);
  fill(3 * ROW - BYTES, 22);
  CHECK_EQ(omp_target_memcpy_rect(there, host, 1, 2, volume, there_at, in_host, rows, rows, device, initial), 0);
  int sum = 0;
#pragma omp target is_device_ptr(there) map(from : sum)
  sum = there[BYTES] + 100 * there[ROW + 2 * BYTES - 1];
  CHECK_EQ(sum, 2221);
  fill(2 * ROW - BYTES, 0);
  fill(3 * ROW - BYTES, 0);
  CHECK_EQ(omp_target_memcpy_rect(host, there, 1, 2, volume, in_host, there_at, rows, rows, initial, device), 0);
  expect(2 * ROW - BYTES, 21);
  expect(3 * ROW - BYTES, 22);
  /* Elements above 1 MiB, so that their number and their bytes differ much. */
  size_t few[] = {1, 1}, of[] = {1, SIZE / BYTES}, last[] = {0, SIZE / BYTES - 1}, first[] = {0, 0};
  CHECK_EQ(omp_target_memcpy_rect(there, host, BYTES, 2, few, last, first, of, of, device, initial), 0);
  CHECK_EQ(omp_target_memcpy_rect(host, there, BYTES, 2, few, first, last, of, of, initial, device), 0);
  omp_target_free(there, device);
}

int main(void) {
  host = sparse();
  updates();
  routines();
  return 0;
}
