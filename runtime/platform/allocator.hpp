// SPDX-License-Identifier: Apache-2.0
//
// Memory allocators (OpenMP 5.2, chapter 6 and section 18.13). A handle is the number of a predefined allocator or the
// address of an allocator made here; config/allocator_choice.hpp has the numbers. The 16 bytes before each block have
// its allocator's handle, so that a free needs no handle. Blocks come from malloc, unless they must be pinned or placed
// on certain memory nodes: such blocks have their own pages. Any thread. The program must keep an allocator alive as
// long as its blocks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/spin_lock.hpp"
#include "config/allocator_choice.hpp"

namespace marline {

using AllocatorHandle = uintptr_t;

// g_allocators_lock guards subspaces and predefined allocators, which are made once; g_free_allocators_lock guards the
// free Allocator structures. Both are held across fork.
extern SpinLock g_allocators_lock, g_free_allocators_lock;

// Returns kNullAllocator if the space or a trait is invalid, or memory is exhausted. `space`: a PredefinedSpace, or the
// handle of a subspace.
AllocatorHandle memory_allocator_create(uintptr_t space, int count, const AllocatorTrait* traits);
void memory_allocator_destroy(AllocatorHandle handle);

// The allocator that OMP_ALLOCATOR asks for; the same at each call.
AllocatorHandle memory_allocator_initial();

// The space of device memory in LLVM's omp.h (kTargetHostSpace or one of the next two) to which `handle` belongs;
// otherwise 0.
uintptr_t memory_allocator_target(AllocatorHandle handle);

// `alignment`: 0 or a power of two. Returns null for any other alignment, for 0 bytes, and if the fallback asks for it.
// An invalid handle means kDefaultMemory.
[[nodiscard]] void* memory_allocate(AllocatorHandle handle, size_t alignment, size_t bytes, bool zeroed);

// Frees a block of memory_allocate; null is allowed.
void memory_free(void* memory);

// Moves a block to an allocator (kNullAllocator: to its own), with a new size that is not 0. Null: there is no memory,
// and the old block is unchanged.
[[nodiscard]] void* memory_reallocate(void* memory, size_t bytes, AllocatorHandle handle);

// A space as in OpenMP 6.0. memory_space_resources: the number of memory nodes of the space, 0 if the space is invalid.
// memory_subspace: a space with some of them, given by their positions, 0 if a position is invalid. A subspace lives as
// long as the process, and the same nodes have the same handle.
int memory_space_resources(uintptr_t space);
uintptr_t memory_subspace(uintptr_t space, int count, const int* positions);

}  // namespace marline
