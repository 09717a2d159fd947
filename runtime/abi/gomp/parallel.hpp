// SPDX-License-Identifier: Apache-2.0
//
// How GCC's arguments become a parallel region; the combined constructs use it too.
#pragma once

#include "construct/parallel/parallel.hpp"

namespace marline::gomp {

// num_threads: 0 for no clause, 1 also for if(0). flags: the proc_bind kind in the low three bits.
ParallelRequest parallel_request(void (*function)(void*), void* data, unsigned num_threads, unsigned flags,
                                 const void* codeptr);

// The loop's record, which is on the heap, of a region that began with a combined start
// (GOMP_parallel_loop_static_start, ...); null if the region began otherwise.
void* started_loop_of(const Team* team);

}  // namespace marline::gomp
