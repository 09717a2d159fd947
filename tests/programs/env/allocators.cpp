// SPDX-License-Identifier: Apache-2.0
//
// Allocators from C++: the null allocator is the default argument, a container may use them, and what an allocate
// clause names is constructed and destroyed where the allocator put it.
//
// Covers: omp_alloc, omp_free, omp_realloc, parallel(allocate)
#include "../check.h"
#include <cstdint>
#include <omp.h>
#include <vector>

template <class T>
struct OmpAllocator {
  using value_type = T;
  omp_allocator_handle_t handle;
  explicit OmpAllocator(omp_allocator_handle_t h) : handle(h) {}
  template <class U>
  OmpAllocator(const OmpAllocator<U>& other) : handle(other.handle) {}
  T* allocate(std::size_t n) { return static_cast<T*>(omp_aligned_alloc(alignof(T), n * sizeof(T), handle)); }
  void deallocate(T* p, std::size_t) { omp_free(p, handle); }
  template <class U>
  bool operator==(const OmpAllocator<U>& other) const {
    return handle == other.handle;
  }
  template <class U>
  bool operator!=(const OmpAllocator<U>& other) const {
    return handle != other.handle;
  }
};

static int living;

struct Counted {
  int value;
  explicit Counted(int v = 0) : value(v) { count(1); }
  Counted(const Counted& other) : value(other.value) { count(1); }
  ~Counted() { count(-1); }
  static void count(int change) {
#pragma omp atomic
    living += change;
  }
};

static void default_arguments() {
  void* block = omp_alloc(100);
  CHECK(block != nullptr);
  block = omp_realloc(block, 200);
  CHECK(block != nullptr);
  omp_free(block);
  int* numbers = static_cast<int*>(omp_calloc(10, sizeof(int)));
  CHECK(numbers != nullptr && numbers[9] == 0);
  omp_free(numbers);
  block = omp_aligned_alloc(128, 128);
  CHECK_EQ(reinterpret_cast<std::uintptr_t>(block) % 128, 0u);
  omp_free(block);
  block = omp_aligned_calloc(128, 1, 128);
  CHECK_EQ(reinterpret_cast<std::uintptr_t>(block) % 128, 0u);
  omp_free(block);
}

static void containers() {
  OmpAllocator<int> allocator(omp_high_bw_mem_alloc);
  std::vector<int, OmpAllocator<int>> numbers(allocator);
  for (int i = 0; i < 10000; i++) numbers.push_back(i);
  CHECK_EQ(numbers[9999], 9999);
}

static void objects() {
  omp_alloctrait_t traits[] = {{omp_atk_alignment, 128}};
  omp_allocator_handle_t handle = omp_init_allocator(omp_default_mem_space, 1, traits);
  Counted object(7);
#pragma omp parallel firstprivate(object) allocate(handle : object)
  {
    CHECK_EQ(object.value, 7);
    CHECK_EQ(reinterpret_cast<std::uintptr_t>(&object) % 128, 0u);
  }
  CHECK_EQ(living, 1);
#pragma omp parallel sections private(object) allocate(handle : object)
  {
#pragma omp section
    CHECK_EQ(object.value, 0);
#pragma omp section
    CHECK_EQ(reinterpret_cast<std::uintptr_t>(&object) % 128, 0u);
  }
  CHECK_EQ(living, 1);
  omp_destroy_allocator(handle);
}

int main() {
  default_arguments();
  containers();
  objects();
  return 0;
}
