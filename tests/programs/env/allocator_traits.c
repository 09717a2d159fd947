/* SPDX-License-Identifier: Apache-2.0
 *
 * What the traits of an allocator promise: a pool gives out as much with many threads as with one, each fallback does
 * what its name says, pinned memory is pinned; realloc between allocators; the default allocator is a task's own.
 *
 * Covers: omp_init_allocator, omp_destroy_allocator, omp_set_default_allocator, omp_get_default_allocator, omp_alloc,
 *  omp_calloc, omp_realloc, omp_free, parallel(allocate), task(allocate), for(allocate)
 */
#include "../child.h"
#include <omp.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { kBlock = 64, kPool = 64 * 1024, kMost = kPool / kBlock };

static omp_allocator_handle_t make(int count, const omp_alloctrait_t* traits) {
  omp_alloctrait_t copy[8];
  memcpy(copy, traits, (size_t)count * sizeof *traits);
  return omp_init_allocator(omp_default_mem_space, count, copy);
}

static omp_allocator_handle_t make_pool(size_t bytes) {
  const omp_alloctrait_t traits[] = {{omp_atk_pool_size, bytes}, {omp_atk_fallback, omp_atv_null_fb}};
  omp_allocator_handle_t handle = make(2, traits);
  CHECK(handle != omp_null_allocator);
  return handle;
}

/* Takes blocks until there are none. */
static int take_all(omp_allocator_handle_t pool, void** blocks) {
  int count = 0;
  while (count < kMost && (blocks[count] = omp_alloc(kBlock, pool)) != NULL) count++;
  return count;
}

static void pool_is_exact(void) {
  static void* blocks[16][kMost];
  omp_allocator_handle_t pool = make_pool(kPool);
  int alone = take_all(pool, blocks[0]), together = 0;
  CHECK(alone > kMost / 4 && alone <= kMost);
  for (int i = 0; i < alone; i++) omp_free(blocks[0][i], pool);
#pragma omp parallel reduction(+ : together)
  {
    int me = omp_get_thread_num() % 16, count = take_all(pool, blocks[me]);
    together += count;
#pragma omp barrier
    for (int i = 0; i < count; i++) omp_free(blocks[me][i], pool);
  }
  CHECK_EQ(together, alone);
  /* Requests that do not fit take no memory from requests that do. */
#pragma omp parallel
  for (int i = 0; i < 2000; i++) {
    void* block = omp_alloc(omp_get_thread_num() == 0 ? kBlock : 2 * kPool, pool);
    CHECK((block != NULL) == (omp_get_thread_num() == 0));
    omp_free(block, pool);
  }
  omp_destroy_allocator(pool);
}

static void fallbacks(void) {
  omp_allocator_handle_t inner = make_pool(4096);
  const omp_alloctrait_t to_inner[] = {
      {omp_atk_pool_size, 1024}, {omp_atk_fallback, omp_atv_allocator_fb}, {omp_atk_fb_data, (omp_uintptr_t)inner}};
  const omp_alloctrait_t to_default[] = {{omp_atk_pool_size, 1024}, {omp_atk_fallback, omp_atv_default_mem_fb}};
  omp_allocator_handle_t outer = make(3, to_inner), loose = make(2, to_default);
  void *first = omp_alloc(800, outer), *second = omp_alloc(3000, outer), *third = omp_alloc(3000, outer);
  CHECK(first != NULL && second != NULL && third == NULL);
  CHECK(omp_alloc(3000, inner) == NULL); /* second lies there */
  omp_free(second, outer);
  void* again = omp_alloc(3000, inner);
  CHECK(again != NULL);
  omp_free(again, inner);
  omp_free(first, outer);
  char* large = omp_calloc(1000, 1000, loose);
  CHECK(large != NULL && large[999999] == 0);
  omp_free(large, loose);
  omp_destroy_allocator(loose);
  omp_destroy_allocator(outer);
  omp_destroy_allocator(inner);
}

static int allocate_or_abort(void) {
  const omp_alloctrait_t traits[] = {{omp_atk_pool_size, 1024}, {omp_atk_fallback, omp_atv_abort_fb}};
  omp_allocator_handle_t handle = make(2, traits);
  void* volatile block = omp_alloc(100000, handle);
  return block == NULL ? 0 : 3;
}

static void abort_fallback(void) {
  static Child child;
  char* none[] = {NULL};
  run_child(&child, "abort", none);
  CHECK(!child.exited || child.status == 1); /* what libgomp exits with */
}

static void reallocation(void) {
  omp_allocator_handle_t pool = make_pool(8192);
  const omp_alloctrait_t traits[] = {{omp_atk_alignment, 512}};
  omp_allocator_handle_t aligned = make(1, traits);
  char* block = omp_alloc(1000, pool);
  memset(block, 'r', 1000);
  block = omp_realloc(block, 6000, pool, pool);
  CHECK(block != NULL && block[999] == 'r');
  CHECK(omp_alloc(4000, pool) == NULL);
  block = omp_realloc(block, 1000, pool, pool);
  void* rest = omp_alloc(4000, pool); /* what shrank came back */
  CHECK(rest != NULL);
  CHECK(omp_realloc(rest, 16000, pool, pool) == NULL); /* and then the old block is whole */
  memset(rest, 0, 4000);
  omp_free(rest, pool);
  block = omp_realloc(block, 2000, aligned, pool);
  CHECK(block != NULL && (uintptr_t)block % 512 == 0 && block[0] == 'r' && block[999] == 'r');
  void* all = omp_alloc(8000, pool); /* the block has left its pool */
  CHECK(all != NULL);
  omp_free(all, pool);
  block = omp_realloc(block, 300000, omp_default_mem_alloc, aligned);
  CHECK(block != NULL && block[999] == 'r');
  CHECK(omp_realloc(block, 0, omp_default_mem_alloc, omp_default_mem_alloc) == NULL);
  volatile size_t huge = SIZE_MAX / 2;
  CHECK(omp_calloc(huge, 4, omp_default_mem_alloc) == NULL);
  CHECK(omp_alloc(huge, pool) == NULL);
  omp_destroy_allocator(aligned);
  omp_destroy_allocator(pool);
}

static void refused(void) {
  const omp_alloctrait_t odd[] = {{omp_atk_alignment, 48}};
  const omp_alloctrait_t all_default[] = {{omp_atk_sync_hint, omp_atv_serialized}, {omp_atk_access, omp_atv_cgroup},
                                          {omp_atk_alignment, omp_atv_default},    {omp_atk_pool_size, omp_atv_default},
                                          {omp_atk_fallback, omp_atv_default},     {omp_atk_pinned, omp_atv_false},
                                          {omp_atk_partition, omp_atv_nearest}};
  CHECK(make(1, odd) == omp_null_allocator);
  omp_allocator_handle_t handle = make(7, all_default);
  CHECK(handle != omp_null_allocator);
  void* block = omp_alloc(100000, handle);
  CHECK(block != NULL);
  memset(block, 1, 100000);
  omp_free(block, handle);
  omp_destroy_allocator(handle);
}

static long locked_kib(void) {
  char line[256];
  long kib = -1;
  FILE* status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status)) sscanf(line, "VmLck: %ld", &kib);
  if (status) fclose(status);
  return kib;
}

static int can_lock(void) {
  void* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  long before = locked_kib();
  int locked = mlock(page, 4096) == 0 && locked_kib() > before;
  munmap(page, 4096);
  return locked;
}

/* A runtime may say that it cannot pin; one that says it can, does. */
static void pinned(void) {
  const omp_alloctrait_t traits[] = {{omp_atk_pinned, omp_atv_true}, {omp_atk_fallback, omp_atv_null_fb}};
  omp_allocator_handle_t handle = make(2, traits);
  if (handle == omp_null_allocator || !can_lock()) return;
  long before = locked_kib();
  char* block = omp_calloc(100, 1000, handle);
  CHECK(block != NULL && block[99999] == 0);
  CHECK(locked_kib() >= before + 96);
  memset(block, 'p', 100000);
  block = omp_realloc(block, 200000, handle, handle);
  CHECK(block != NULL && block[99999] == 'p');
  omp_free(block, handle);
  CHECK_EQ(locked_kib(), before);
  struct rlimit none = {0, 0};
  if (setrlimit(RLIMIT_MEMLOCK, &none) == 0 && !can_lock()) {
    CHECK(omp_alloc(1000, handle) == NULL);
    const omp_alloctrait_t loose[] = {{omp_atk_pinned, omp_atv_true}};
    omp_allocator_handle_t falls_back = make(1, loose);
    void* unpinned = omp_alloc(1000, falls_back);
    CHECK(unpinned != NULL);
    omp_free(unpinned, falls_back);
    omp_destroy_allocator(falls_back);
  }
  omp_destroy_allocator(handle);
}

static void partitions(void) {
  const omp_uintptr_t kinds[] = {omp_atv_environment, omp_atv_nearest, omp_atv_blocked, omp_atv_interleaved};
  for (int k = 0; k < 4; k++) {
    const omp_alloctrait_t traits[] = {{omp_atk_partition, kinds[k]}, {omp_atk_alignment, 65536}};
    omp_allocator_handle_t handle = make(2, traits);
    if (handle == omp_null_allocator) continue;
    char* block = omp_alloc(1 << 20, handle);
    CHECK(block != NULL && (uintptr_t)block % 65536 == 0);
    memset(block, k, 1 << 20);
    omp_free(block, handle);
    omp_destroy_allocator(handle);
  }
}

/* def-allocator-var holds for the task that sets it, and for the tasks which that task creates. */
static void default_of_a_task(void) {
#pragma omp parallel
  {
    if (omp_get_thread_num() == 0) omp_set_default_allocator(omp_large_cap_mem_alloc);
#pragma omp barrier
    CHECK(omp_get_default_allocator() == (omp_get_thread_num() == 0 ? omp_large_cap_mem_alloc : omp_default_mem_alloc));
    if (omp_get_thread_num() == 0) {
#pragma omp task
      CHECK(omp_get_default_allocator() == omp_large_cap_mem_alloc);
    }
  }
  CHECK(omp_get_default_allocator() == omp_default_mem_alloc);
}

static void clauses(void) {
  const omp_alloctrait_t traits[] = {
      {omp_atk_alignment, 256}, {omp_atk_pool_size, 1 << 20}, {omp_atk_fallback, omp_atv_null_fb}};
  omp_allocator_handle_t handle = make(3, traits);
  int values[8] = {1, 2, 3, 4, 5, 6, 7, 8}, sum = 0, shift = 1;
#pragma omp parallel firstprivate(values) allocate(handle : values, sum) reduction(+ : sum)
  {
    CHECK_EQ((uintptr_t)values % 256, 0);
    sum += values[7];
#pragma omp for firstprivate(shift) allocate(handle : shift)
    for (int i = 0; i < 100; i++) CHECK(shift == 1 && (uintptr_t)&shift % 256 == 0);
#pragma omp task firstprivate(values) allocate(handle : values)
    CHECK_EQ(values[3], 4);
    if (omp_get_thread_num() == 0) CHECK_EQ(sum, 8);
  }
  CHECK_EQ(sum % 8, 0);
  void* all = omp_alloc((1 << 20) - 1024, handle); /* all came back */
  CHECK(all != NULL);
  omp_free(all, handle);
  omp_destroy_allocator(handle);
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "abort") == 0) return allocate_or_abort();
  pool_is_exact();
  fallbacks();
  abort_fallback();
  reallocation();
  refused();
  partitions();
  default_of_a_task();
  clauses();
  pinned();
  return 0;
}
