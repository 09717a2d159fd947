// SPDX-License-Identifier: Apache-2.0
//
// Memory allocators (OpenMP 5.1, section 2.13). All memory spaces are the host's memory. A handle is the number of a
// predefined allocator, or the address of one made here; the null handle means def-allocator-var. Every block remembers
// its allocator, so a free needs no handle. Any thread; that an allocator outlives its blocks is the program's duty.
#pragma once

#include <cstddef>
#include <cstdint>

namespace marline {

using AllocatorHandle = uintptr_t;
inline constexpr AllocatorHandle kNullAllocator = 0;

// omp_alloctrait_t.
struct AllocatorTrait {
  int key;
  uintptr_t value;
};

// The null allocator if a trait is malformed or cannot be satisfied: pinned memory, interleaved or blocked partitions.
AllocatorHandle allocator_create(uintptr_t memory_space, int count, const AllocatorTrait* traits);
void allocator_destroy(AllocatorHandle handle);

// def-allocator-var of the current task. Setting it to the null handle does nothing.
AllocatorHandle allocator_default();
void allocator_set_default(AllocatorHandle handle);

// `alignment` is 0 or a power of two. Null for 0 bytes, and where the allocator's fallback says null. Zeroed if asked.
[[nodiscard]] void* allocator_allocate(AllocatorHandle handle, size_t alignment, size_t bytes, bool zeroed = false);

// The same for an array; null if count * bytes overflows.
[[nodiscard]] void* allocator_allocate_array(AllocatorHandle handle, size_t alignment, size_t count, size_t bytes);

// A null handle means the block's own allocator. Null, with the old block intact, if there is no memory.
[[nodiscard]] void* allocator_reallocate(void* memory, size_t bytes, AllocatorHandle handle);

void allocator_free(void* memory);

}  // namespace marline
