// SPDX-License-Identifier: Apache-2.0
//
// Memory management routines (OpenMP 5.1, section 3.13) and the handles that LLVM's runtime exports as data, for
// Fortran modules and Windows-style headers. Any thread.
#include "abi/omp/current.hpp"
#include "construct/environment/allocator.hpp"

namespace marline::omp {

#pragma GCC visibility push(default)
extern "C" {

AllocatorHandle omp_init_allocator(uintptr_t memory_space, int count, const AllocatorTrait* traits) {
  return memory_allocator_create(memory_space, count, traits);
}
AllocatorHandle omp_init_allocator_(const uintptr_t* memory_space, const int32_t* count, const AllocatorTrait* traits) {
  return memory_allocator_create(*memory_space, *count, traits);
}
AllocatorHandle omp_init_allocator_8_(const uintptr_t* memory_space, const int64_t* count,
                                      const AllocatorTrait* traits) {
  return memory_allocator_create(*memory_space, static_cast<int>(*count), traits);
}

void omp_destroy_allocator(AllocatorHandle handle) { memory_allocator_destroy(handle); }
void omp_destroy_allocator_(const AllocatorHandle* handle) { memory_allocator_destroy(*handle); }

void omp_set_default_allocator(AllocatorHandle handle) { allocator_set_default(handle); }
void omp_set_default_allocator_(const AllocatorHandle* handle) { allocator_set_default(*handle); }
AllocatorHandle omp_get_default_allocator() {
  return with_current_icvs([](const Icvs& icvs) { return icvs.allocator; });
}
[[gnu::alias("omp_get_default_allocator")]] AllocatorHandle omp_get_default_allocator_();

void* omp_alloc(size_t bytes, AllocatorHandle handle) { return allocator_allocate(handle, 0, bytes); }
void* omp_aligned_alloc(size_t alignment, size_t bytes, AllocatorHandle handle) {
  return allocator_allocate(handle, alignment, bytes);
}
void* omp_calloc(size_t count, size_t bytes, AllocatorHandle handle) {
  return allocator_allocate_array(handle, 0, count, bytes);
}
void* omp_aligned_calloc(size_t alignment, size_t count, size_t bytes, AllocatorHandle handle) {
  return allocator_allocate_array(handle, alignment, count, bytes);
}
void* omp_realloc(void* memory, size_t bytes, AllocatorHandle handle, AllocatorHandle from) {
  return allocator_reallocate(memory, bytes, handle, from);
}
void omp_free(void* memory, AllocatorHandle handle) { allocator_free(memory, handle); }

extern const AllocatorHandle omp_null_allocator = 0;
extern const AllocatorHandle omp_default_mem_alloc = 1;
extern const AllocatorHandle omp_large_cap_mem_alloc = 2;
extern const AllocatorHandle omp_const_mem_alloc = 3;
extern const AllocatorHandle omp_high_bw_mem_alloc = 4;
extern const AllocatorHandle omp_low_lat_mem_alloc = 5;
extern const AllocatorHandle omp_cgroup_mem_alloc = 6;
extern const AllocatorHandle omp_pteam_mem_alloc = 7;
extern const AllocatorHandle omp_thread_mem_alloc = 8;

extern const uintptr_t omp_null_mem_space = 0;
extern const uintptr_t omp_default_mem_space = 0;
extern const uintptr_t omp_large_cap_mem_space = 1;
extern const uintptr_t omp_const_mem_space = 2;
extern const uintptr_t omp_high_bw_mem_space = 3;
extern const uintptr_t omp_low_lat_mem_space = 4;
extern const uintptr_t omp_cgroup_mem_space = 5;

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::omp
