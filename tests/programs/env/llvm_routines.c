/* SPDX-License-Identifier: Apache-2.0
 *
 * The kmp_* routines of LLVM's omp.h and their kmpc_* names: memory, affinity masks, library mode, times and sizes.
 *
 * Covers: LLVM kmp_ routines
 */
#include "../check.h"
#include <limits.h>
#include <omp.h>
#include <stdint.h>

/* Second names, in no header. */
void* kmpc_malloc(size_t bytes);
void* kmpc_calloc(size_t count, size_t bytes);
void* kmpc_realloc(void* memory, size_t bytes);
void* kmpc_aligned_malloc(size_t bytes, size_t alignment);
void kmpc_free(void* memory);
void kmpc_set_blocktime(int milliseconds);
void kmpc_set_stacksize_s(size_t bytes);
void kmpc_set_library(int kind);
void kmpc_set_defaults(const char* settings);
void kmpc_set_disp_num_buffers(int count);
int kmpc_set_affinity_mask_proc(int processor, kmp_affinity_mask_t* mask);
int kmpc_unset_affinity_mask_proc(int processor, kmp_affinity_mask_t* mask);
int kmpc_get_affinity_mask_proc(int processor, kmp_affinity_mask_t* mask);

static void memory(void) {
  char* block = kmp_malloc(100);
  CHECK(block != NULL);
  memset(block, 7, 100);
  block = kmpc_realloc(block, 100000);
  CHECK(block != NULL && block[0] == 7 && block[99] == 7);
  kmp_free(block);
  int* zeros = kmpc_calloc(1000, sizeof(int));
  for (int i = 0; i < 1000; i++) CHECK_EQ(zeros[i], 0);
  kmpc_free(zeros);
  for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
    void* aligned = alignment % 3 == 1 ? kmp_aligned_malloc(50, alignment) : kmpc_aligned_malloc(50, alignment);
    CHECK(aligned != NULL);
    CHECK_EQ((uintptr_t)aligned % alignment, 0);
    memset(aligned, 1, 50);
    kmp_free(aligned);
  }
  kmpc_free(kmpc_malloc(1));
  kmp_free(NULL);
}

/* Memory may be given back by another thread than the one that took it. */
static void memory_between_threads(void) {
  void* blocks[64] = {0};
#pragma omp parallel for
  for (int i = 0; i < 64; i++) blocks[i] = kmp_malloc((size_t)i * 100 + 1);
#pragma omp parallel for schedule(static, 1)
  for (int i = 63; i >= 0; i--) kmp_free(blocks[i]);
}

static void masks(void) {
  kmp_affinity_mask_t mine, copy;
  kmp_create_affinity_mask(&mine);
  kmp_create_affinity_mask(&copy);
  int most = kmp_get_affinity_max_proc();
  CHECK(most >= 1);
  for (int cpu = 0; cpu < most; cpu++) CHECK_EQ(kmp_get_affinity_mask_proc(cpu, &mine), 0);
  CHECK_EQ(kmp_get_affinity(&mine), 0);
  int first = -1;
  for (int cpu = most - 1; cpu >= 0; cpu--)
    if (kmp_get_affinity_mask_proc(cpu, &mine) > 0) first = cpu;
  CHECK(first >= 0);
  CHECK_EQ(kmpc_set_affinity_mask_proc(first, &copy), 0);
  CHECK_EQ(kmpc_get_affinity_mask_proc(first, &copy), 1);
  CHECK_EQ(kmp_set_affinity(&copy), 0);
  CHECK_EQ(kmp_get_affinity(&copy), 0);
  CHECK_EQ(kmp_unset_affinity_mask_proc(first, &copy), 0);
  for (int cpu = 0; cpu < most; cpu++) CHECK_EQ(kmp_get_affinity_mask_proc(cpu, &copy), 0);
  CHECK_EQ(kmp_set_affinity(&mine), 0);
  CHECK(kmp_set_affinity_mask_proc(-1, &copy) != 0);
  CHECK(kmpc_unset_affinity_mask_proc(INT_MAX, &copy) != 0);
  kmp_destroy_affinity_mask(&mine);
  kmp_destroy_affinity_mask(&copy);
  CHECK(mine == NULL && copy == NULL);
}

static int team_size(void) {
  int size = 0;
#pragma omp parallel reduction(+ : size)
  size++;
  return size;
}

static void library_modes(void) {
  int threads = omp_get_max_threads();
  CHECK_EQ(kmp_get_library(), 3); /* throughput */
  kmp_set_library_serial();
  CHECK_EQ(kmp_get_library(), 1);
  CHECK_EQ(team_size(), 1);
  kmp_set_library_turnaround();
  CHECK_EQ(kmp_get_library(), 2);
  CHECK_EQ(team_size(), threads);
  kmpc_set_library(1);
  CHECK_EQ(team_size(), 1);
  kmp_set_library_throughput();
  CHECK_EQ(kmp_get_library(), 3);
  CHECK_EQ(team_size(), threads);
  kmp_set_library(2);
  CHECK_EQ(kmp_get_library(), 2);
}

static void hints(void) {
  kmpc_set_disp_num_buffers(11);
  kmp_set_disp_num_buffers(7);
  for (int milliseconds = 0; milliseconds < 1000; milliseconds = milliseconds * 3 + 1) {
    kmp_set_blocktime(milliseconds);
    CHECK_EQ(kmp_get_blocktime(), milliseconds);
    CHECK_EQ(team_size(), omp_get_max_threads());
  }
  kmpc_set_blocktime(INT_MAX);
  CHECK(kmp_get_blocktime() > 1000000); /* for ever, or as long as microseconds fit */
  kmp_set_warnings_off();
  kmp_set_warnings_on();
}

/* Before there is another thread: both take effect. Afterwards neither need, and nothing breaks. */
static void early_settings(void) {
  kmpc_set_stacksize_s(3 << 20);
  CHECK_EQ(kmp_get_stacksize_s(), 3 << 20);
  CHECK_EQ(kmp_get_stacksize(), 3 << 20);
  kmp_set_stacksize(2 << 20);
  CHECK_EQ(kmp_get_stacksize(), 2 << 20);
}

static void large_frames(void) {
#pragma omp parallel
  {
    volatile char frame[1 << 20];
    for (size_t i = 0; i < sizeof frame; i += 4096) frame[i] = 1;
  }
}

int main(void) {
  early_settings();
  large_frames();
  kmpc_set_defaults("KMP_WARNINGS=0");
  memory();
  memory_between_threads();
  masks();
  library_modes();
  hints();
  return 0;
}
