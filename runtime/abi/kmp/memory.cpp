// SPDX-License-Identifier: Apache-2.0
//
// Memory, for Clang's code: the `allocate` and `uses_allocators` clauses.
#include "construct/environment/allocator.hpp"

namespace marline::kmp {

#pragma GCC visibility push(default)
extern "C" {

AllocatorHandle __kmpc_init_allocator(int32_t, uintptr_t memory_space, int32_t count, const AllocatorTrait* traits) {
  return memory_allocator_create(memory_space, count, traits);
}
void __kmpc_destroy_allocator(int32_t, AllocatorHandle handle) { memory_allocator_destroy(handle); }
AllocatorHandle __kmpc_get_default_allocator(int32_t) { return allocator_default(); }
void __kmpc_set_default_allocator(int32_t, AllocatorHandle handle) { allocator_set_default(handle); }

void* __kmpc_alloc(int32_t, size_t bytes, AllocatorHandle handle) { return allocator_allocate(handle, 0, bytes); }
void* __kmpc_aligned_alloc(int32_t, size_t alignment, size_t bytes, AllocatorHandle handle) {
  return allocator_allocate(handle, alignment, bytes);
}
void* __kmpc_calloc(int32_t, size_t count, size_t bytes, AllocatorHandle handle) {
  return allocator_allocate_array(handle, 0, count, bytes);
}
void* __kmpc_realloc(int32_t, void* memory, size_t bytes, AllocatorHandle handle, AllocatorHandle from) {
  return allocator_reallocate(memory, bytes, handle, from);
}
void __kmpc_free(int32_t, void* memory, AllocatorHandle handle) { allocator_free(memory, handle); }

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::kmp
