// SPDX-License-Identifier: Apache-2.0
//
// Memory allocators (OpenMP 5.2, chapter 6 and section 18.13). A handle is the number of a predefined allocator or the
// address of one made here; config/allocator_choice.hpp has the numbers. Every block remembers its allocator in the 16
// bytes before it, so that a free needs no handle. Blocks come from malloc, unless they must be pinned or placed on
// certain memory nodes: such blocks have pages of their own. Any thread. The program must keep an allocator alive as
// long as its blocks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/spin_lock.hpp"
#include "config/allocator_choice.hpp"

namespace marline {

using AllocatorHandle = uintptr_t;

// Of what is made once, subspaces and predefined allocators, and of the structures that are free. Held across fork.
extern SpinLock g_allocators_lock, g_free_allocators_lock;

// kNullAllocator if the space or a trait is not one, or memory is exhausted. `space`: a PredefinedSpace, or the handle
// of a subspace.
AllocatorHandle memory_allocator_create(uintptr_t space, int count, const AllocatorTrait* traits);
void memory_allocator_destroy(AllocatorHandle handle);

// The one that OMP_ALLOCATOR asks for; the same at each call.
AllocatorHandle memory_allocator_initial();

// The space of a device's memory that LLVM's omp.h knows (kTargetHostSpace and the next two), if `handle` is of it;
// else 0.
uintptr_t memory_allocator_target(AllocatorHandle handle);

// `alignment`: 0 or a power of two; a null pointer for another, for 0 bytes, and where the fallback says so. The handle
// of no allocator stands for kDefaultMemory.
[[nodiscard]] void* memory_allocate(AllocatorHandle handle, size_t alignment, size_t bytes, bool zeroed);

// Takes back what memory_allocate gave, also a null pointer.
void memory_free(void* memory);

// Moves a block to an allocator, kNullAllocator: its own, with a new size that is not 0. Null, and the old block is as
// it was, if there is no memory.
[[nodiscard]] void* memory_reallocate(void* memory, size_t bytes, AllocatorHandle handle);

// OpenMP 6.0's view of a space: how many memory nodes it has, 0 if it is none; and the space of some of them, by their
// positions, 0 if a position is none. A subspace lives as long as the process, and the same nodes have the same handle.
int memory_space_resources(uintptr_t space);
uintptr_t memory_subspace(uintptr_t space, int count, const int* positions);

}  // namespace marline
