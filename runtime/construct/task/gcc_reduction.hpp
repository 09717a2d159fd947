// SPDX-License-Identifier: Apache-2.0
//
// Task reductions for GCC's code: it allocates one block per thread through the runtime and does the rest itself. In
// Taskgroup::reductions the block is marked by bit 0 of the pointer; Clang's sets (construct/task/task_reduction.hpp)
// are not.
#pragma once

#include "sched/team.hpp"

#include <cstddef>

namespace marline {

// GCC's block, an array of words (GCC, libgomp/task.c and gcc/omp-low.c): [0] number of variables, [1] bytes per
// thread, [2] alignment, then the memory, [4] next block, [6] end of the memory, [7 + 3i] address of variable i,
// [8 + 3i] its offset in a thread's part.
using GccReduction = uintptr_t;

void gcc_reduction_allocate(GccReduction* chain, int threads);
// Uses the memory that another thread allocated.
void gcc_reduction_adopt(GccReduction* chain, const GccReduction* first);
void gcc_reduction_free(GccReduction* chain);
void gcc_reduction_attach(Worker* worker, GccReduction* chain);
[[nodiscard]] GccReduction* gcc_reduction_attached(Worker* worker);

// Replaces each of the `count` addresses by the current thread's copy; for the first `originals` of them, stores the
// address of the original after the array.
void gcc_reduction_remap(Worker* worker, size_t count, size_t originals, void** addresses);

// Whether the address is in a thread's copy, in a taskgroup around the current task.
[[nodiscard]] bool gcc_reduction_has_copy(const Worker* worker, const void* address);

inline constexpr uintptr_t kGccTag = 1;

inline bool is_gcc(const Taskgroup* group) { return reinterpret_cast<uintptr_t>(group->reductions) & kGccTag; }

inline GccReduction* gcc_reductions(const Taskgroup* group) {
  if (!is_gcc(group)) return nullptr;
  return reinterpret_cast<GccReduction*>(reinterpret_cast<uintptr_t>(group->reductions) & ~kGccTag);
}

}  // namespace marline
