// SPDX-License-Identifier: Apache-2.0
//
// Reductions at the end of a construct, whose order Clang's code leaves to the runtime (OpenMP 5.2, section 5.5.8). The
// compiler generates code for three ways. Marline chooses between two: each thread adds atomically, or under a lock.
#pragma once

#include "construct/sync/lock.hpp"
#include "sched/team.hpp"

namespace marline {

enum class ReductionWay : int32_t { kUnderLock = 1, kAtomic = 2 };

// Says how the calling thread adds its share; kUnderLock: it holds `lock` until reduction_end. codeptr: for tools; by
// default where the entry point that calls it returns to. Tools hear of a reduction under the lock: the compiler calls
// nothing where an atomic one that does not wait ends.
[[nodiscard]] ReductionWay reduction_begin(Worker* worker, bool atomic_possible, LockWord& lock,
                                           const void* codeptr = __builtin_return_address(0));
void reduction_end(Worker* worker, bool atomic_possible, LockWord& lock,
                   const void* codeptr = __builtin_return_address(0));

}  // namespace marline
