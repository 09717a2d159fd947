/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory allocators: blocks of predefined and of own allocators are aligned as asked, hold what was written over a
 * realloc, are zero where the routine promises it; a pool has an end, and the fallback says what happens there.
 *
 * Covers: omp_init_allocator, omp_destroy_allocator, omp_set_default_allocator, omp_get_default_allocator, omp_alloc,
 *  omp_aligned_alloc, omp_calloc, omp_aligned_calloc, omp_realloc, omp_free
 * Covers (clang): allocate(allocator)
 * Covers (clang19): allocate(align)
 */
#include "../check.h"
#include <omp.h>
#include <stdint.h>

static void predefined(void) {
  const omp_allocator_handle_t handles[] = {omp_default_mem_alloc, omp_large_cap_mem_alloc, omp_const_mem_alloc,
                                            omp_low_lat_mem_alloc, omp_cgroup_mem_alloc,    omp_pteam_mem_alloc,
                                            omp_thread_mem_alloc,  omp_null_allocator};
  for (size_t h = 0; h < sizeof handles / sizeof *handles; h++) {
    char* block = omp_alloc(1000, handles[h]);
    CHECK(block != NULL);
    memset(block, 'x', 1000);
    block = omp_realloc(block, 100000, handles[h], handles[h]);
    CHECK(block != NULL);
    CHECK_EQ(block[999], 'x');
    omp_free(block, handles[h]);
  }
  CHECK(omp_alloc(0, omp_default_mem_alloc) == NULL);
  omp_free(NULL, omp_default_mem_alloc);
}

static void aligned_and_zeroed(void) {
  for (size_t alignment = 8; alignment <= 4096; alignment *= 2) {
    char* block = omp_aligned_alloc(alignment, 2 * alignment, omp_default_mem_alloc);
    CHECK_EQ((uintptr_t)block % alignment, 0);
    memset(block, 'y', 2 * alignment);
    omp_free(block, omp_default_mem_alloc);
    block = omp_aligned_calloc(alignment, 2, alignment, omp_default_mem_alloc);
    CHECK_EQ((uintptr_t)block % alignment, 0);
    for (size_t i = 0; i < 2 * alignment; i++) CHECK_EQ(block[i], 0);
    omp_free(block, omp_null_allocator);
  }
  int* numbers = omp_calloc(100, sizeof *numbers, omp_default_mem_alloc);
  for (int i = 0; i < 100; i++) CHECK_EQ(numbers[i], 0);
  omp_free(numbers, omp_default_mem_alloc);
}

static void own(void) {
  omp_alloctrait_t traits[] = {
      {omp_atk_alignment, 256}, {omp_atk_pool_size, 8192}, {omp_atk_fallback, omp_atv_null_fb}};
  omp_allocator_handle_t handle = omp_init_allocator(omp_default_mem_space, 3, traits);
  CHECK(handle != omp_null_allocator);
  void* first = omp_alloc(3000, handle);
  CHECK(first != NULL);
  CHECK_EQ((uintptr_t)first % 256, 0);
  CHECK(omp_alloc(8192, handle) == NULL); /* more than the pool has left */
  omp_free(first, handle);
  void* again = omp_alloc(3000, handle);
  CHECK(again != NULL);
  omp_free(again, handle);
  omp_destroy_allocator(handle);
}

static void default_allocator(void) {
  omp_allocator_handle_t before = omp_get_default_allocator();
  CHECK(before == omp_default_mem_alloc);
  omp_set_default_allocator(omp_large_cap_mem_alloc);
  CHECK(omp_get_default_allocator() == omp_large_cap_mem_alloc);
  omp_set_default_allocator(before);
}

#ifdef __clang__
static void directive(void) {
  int values[16];
#pragma omp allocate(values) allocator(omp_default_mem_alloc)
  for (int i = 0; i < 16; i++) values[i] = i;
  CHECK_EQ(values[15], 15);
#if __clang_major__ >= 19
  int aligned[16];
#pragma omp allocate(aligned) align(128)
  for (int i = 0; i < 16; i++) aligned[i] = i;
  CHECK_EQ((uintptr_t)aligned % 128, 0);
  CHECK_EQ(aligned[15], 15);
#endif
}
#else
static void directive(void) {}
#endif

int main(void) {
  predefined();
  aligned_and_zeroed();
  own();
  default_allocator();
#pragma omp parallel
  directive();
  return 0;
}
