/* SPDX-License-Identifier: Apache-2.0
 *
 * A device has as much memory as its settings say: run it with 32 MiB. What does not fit is refused, and fits after
 * something has been freed. Memory that the host and the device share is readable on both sides.
 */
#include "emulated.h"

#define MIB (1 << 20)

void* llvm_omp_target_alloc_shared(size_t size, int device);
void* llvm_omp_target_alloc_host(size_t size, int device);
void llvm_omp_target_free_shared(void* memory, int device);
void llvm_omp_target_free_host(void* memory, int device);

static void add_one(int* memory, int n) {
#pragma omp target teams distribute parallel for is_device_ptr(memory)
  for (int i = 0; i < n; i++) memory[i] += 1;
}

int main(void) {
  char* first = omp_target_alloc(20 * MIB, 0);
  CHECK(first != NULL);
  CHECK(omp_target_alloc(16 * MIB, 0) == NULL);
  omp_target_free(first, 0);
  char* second = omp_target_alloc(16 * MIB, 0);
  CHECK(second != NULL);
  omp_target_free(second, 0);

  int *shared = llvm_omp_target_alloc_shared(MIB, 0), *pinned = llvm_omp_target_alloc_host(MIB, 0);
  CHECK(shared != NULL && pinned != NULL);
  const int n = MIB / (int)sizeof(int);
  for (int i = 0; i < n; i++) shared[i] = pinned[i] = i;
  add_one(shared, n);
  add_one(pinned, n);
  for (int i = 0; i < n; i++) CHECK(shared[i] == i + 1 && pinned[i] == i + 1);
  llvm_omp_target_free_shared(shared, 0);
  llvm_omp_target_free_host(pinned, 0);
  CHECK(emulated(kKernels) == 2);
  return 0;
}
