// SPDX-License-Identifier: Apache-2.0
//
// Memory of the runtime's own that belongs to no worker: the first block that a thread takes from malloc makes glibc
// reserve an arena of 64 MiB for it, and under a limit on address space (`ulimit -v`) a team of sixteen would take all
// there is. Any thread. The pools are SlabPools behind locks; the address of a thread's memory selects its pool, so
// that threads seldom meet.
#pragma once

#include <cstddef>

namespace marline {

// Aligned to 64. Never null: fatal when there is no memory.
[[nodiscard]] void* shared_allocate(size_t bytes);
[[nodiscard]] void* shared_allocate_zeroed(size_t bytes);

void shared_release(void* block);  // null: nothing

// Held across fork, before the locks of slab.hpp and after those under which blocks are asked for.
void shared_pools_lock_all();
void shared_pools_unlock_all();

}  // namespace marline
