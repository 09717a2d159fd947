// SPDX-License-Identifier: Apache-2.0
//
// The runtime's own memory that belongs to no worker. It does not come from malloc: the first block that a thread takes
// from malloc makes glibc reserve an arena of 64 MiB for the thread, and under a limit on address space (`ulimit -v`) a
// team of sixteen threads could take all of it. Any thread. The pools are SlabPools under locks; the address of a
// thread's memory selects its pool, so that threads seldom wait for each other.
#pragma once

#include <cstddef>

namespace marline {

// Aligned to 64. Never null: without memory, the program ends with a message.
[[nodiscard]] void* shared_allocate(size_t bytes);
[[nodiscard]] void* shared_allocate_zeroed(size_t bytes);

void shared_release(void* block);  // null: does nothing

// Held across fork. Taken before the locks of slab.hpp, and after the locks that are held while blocks are allocated.
void shared_pools_lock_all();
void shared_pools_unlock_all();

}  // namespace marline
