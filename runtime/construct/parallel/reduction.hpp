// SPDX-License-Identifier: Apache-2.0
//
// Reductions at the end of a construct, for Clang's code, which leaves the way to the runtime (OpenMP 5.2, section
// 5.5.8). The compiler generates code for three ways. Marline uses two: each thread adds its share atomically, or under
// a lock.
#pragma once

#include "construct/sync/lock.hpp"
#include "sched/team.hpp"

namespace marline {

enum class ReductionWay : int32_t { kUnderLock = 1, kAtomic = 2 };

// Returns how the calling thread adds its share; kUnderLock: the thread holds `lock` until reduction_end. codeptr: for
// tools; by default the return address of the calling entry point. Tools are notified only of reductions under the
// lock: at the end of an atomic reduction that does not wait, the compiler calls nothing.
[[nodiscard]] ReductionWay reduction_begin(Worker* worker, bool atomic_possible, LockWord& lock,
                                           const void* codeptr = __builtin_return_address(0));
void reduction_end(Worker* worker, bool atomic_possible, LockWord& lock,
                   const void* codeptr = __builtin_return_address(0));

}  // namespace marline
