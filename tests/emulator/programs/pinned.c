/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of an allocator with the trait `pinned` is the driver's: deferred regions on it overlap although copies of
 * other memory hold the thread that submits them. Run it with MARLINE_EMULATOR_PAGEABLE=wait, kernels of 50 ms and 2
 * threads. LLVM's runtime does not know the trait, and passes without the measurement.
 */
#include "emulated.h"

#define REGIONS 16
#define N (64 << 10)

static void run(int* data) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < REGIONS; i++) {
#pragma omp target nowait map(tofrom : data[i * N : N]) firstprivate(i)
    for (int j = 0; j < N; j++) data[i * N + j] += i + j;
  }
}

static void check_resize(omp_allocator_handle_t pinned) {
  char* block = omp_calloc(100, 100, pinned);
  CHECK(block != NULL && block[0] == 0 && block[9999] == 0);
  block[9999] = 'p';
  block = omp_realloc(block, 100000, pinned, pinned);
  CHECK(block != NULL && block[9999] == 'p');
  omp_free(block, pinned);
  block = omp_aligned_alloc(1 << 16, 100, pinned); /* more than a page: not the driver's, but pinned */
  CHECK(block == NULL || ((size_t)block & 0xffff) == 0);
  omp_free(block, pinned);
}

int main(void) {
  const omp_alloctrait_t traits[] = {{omp_atk_pinned, omp_atv_true}};
  omp_allocator_handle_t pinned = omp_init_allocator(omp_default_mem_space, 1, traits);
  CHECK(pinned != omp_null_allocator);
  int* data = omp_calloc(REGIONS * N, sizeof *data, pinned);
  CHECK(data != NULL);
  int marline = strcmp(getenv("MARLINE_TEST_RUNTIME"), "marline") == 0;
#pragma omp target
  {
  } /* the device starts */
  run(data);
  for (int i = 0; i < REGIONS * N; i++) CHECK_EQ(data[i], i / N + i % N);
  if (marline) {
    CHECK_RANGE(emulated(kMostKernels), 3, REGIONS); /* 2 at the same time if two threads are held */
    check_resize(pinned);
  }
  omp_free(data, pinned);
  omp_destroy_allocator(pinned);
  return 0;
}
