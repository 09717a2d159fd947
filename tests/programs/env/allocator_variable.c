/* SPDX-License-Identifier: Apache-2.0
 *
 * OMP_ALLOCATOR with a memory space and traits: blocks of the null allocator, and of the default one, have them. The
 * program runs itself once per setting.
 *
 * Covers: OMP_ALLOCATOR, omp_get_default_allocator, omp_alloc
 */
#include "../child.h"
#include <omp.h>
#include <stdint.h>

/* Sizes that have no block, and the alignment that all others have. */
static int report(void) {
  int none = 0;
  uintptr_t all_bits = 0;
  for (size_t bytes = 1 << 10; bytes <= 1 << 16; bytes *= 4) {
    void* blocks[] = {omp_alloc(bytes, omp_null_allocator), NULL};
#pragma omp parallel num_threads(2)
#pragma omp single
    blocks[1] = omp_alloc(bytes / 4, omp_get_default_allocator());
    for (int i = 0; i < 2; i++) {
      none += blocks[i] == NULL;
      all_bits |= (uintptr_t)blocks[i];
      omp_free(blocks[i], omp_null_allocator);
    }
  }
  printf("none=%d aligned=%d predefined=%d .\n", none, (all_bits & 511) == 0,
         omp_get_default_allocator() == omp_default_mem_alloc);
  return 0;
}

static Child child;

static void expect(const char* value, const char* words, const char* more) {
  char setting[256];
  snprintf(setting, sizeof setting, "OMP_ALLOCATOR=%s", value);
  char* variables[] = {setting, NULL};
  run_child(&child, "report", variables);
  CHECK_LINE(&child, words);
  CHECK_LINE(&child, more);
  CHECK_EQ(child.status, 0);
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "report") == 0) return report();
  expect("omp_default_mem_alloc", "none=0", "predefined=1");
  expect("omp_default_mem_space", "none=0", "predefined=0");
  expect("omp_default_mem_space:alignment=512", "none=0 aligned=1", "predefined=0");
  expect("omp_large_cap_mem_space:alignment=512,pool_size=24000,fallback=null_fb", "none=1 aligned=1", "predefined=0");
  expect("omp_high_bw_mem_space:pool_size=20000,fallback=allocator_fb,fb_data=omp_low_lat_mem_alloc", "none=0",
         "predefined=0");
  expect("omp_default_mem_space:partition=interleaved,sync_hint=private,access=thread,pinned=false", "none=0",
         "predefined=0");
  expect("omp_default_mem_space:alignment=48", "none=0", "predefined=1");
  expect("omp_default_mem_space:fallback=allocator_fb", "none=0", "predefined=1");
  expect("omp_default_mem_space:colour=blue", "none=0", "predefined=1");
  CHECK_LINE(&child, "warning: OMP_ALLOCATOR=\"omp_default_mem_space:colour=blue\"");
  return 0;
}
