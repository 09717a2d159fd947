// SPDX-License-Identifier: Apache-2.0
//
// Task reductions (OpenMP 5.2, sections 5.5.9 to 5.5.11). A taskgroup holds private copies of the reduction variables,
// one per thread of the team. A copy is made when a task of the group first asks for it on that thread; the copies are
// combined when the group has ended. A task that has a copy stays on its thread (task_flag::kPinned).
//
// Clang leaves copies, initialisation and combination to the runtime (ReductionItem). GCC allocates one block per
// thread through the runtime and does the rest itself (GccReduction, marked by a tag in Taskgroup::reductions).
#pragma once

#include "sched/team.hpp"

#include <cstddef>

namespace marline {

struct ReductionItem {
  void* shared;    // the variable that tasks name, which gets the result
  void* original;  // the second argument of `initialise`
  size_t bytes;
  void (*initialise)(void* copy, void* original);  // null: set to zero
  void (*finalise)(void* copy);                    // null: nothing
  void (*combine)(void* into, void* copy);
};

// Attaches the items to the innermost taskgroup of the current task; they are copied.
void reductions_attach(Worker* worker, const ReductionItem* items, size_t count);

// The current thread's copy of the variable at `address` (the original, or any thread's copy). `group`: the innermost
// group to search; null: the current task's.
[[nodiscard]] void* reduction_copy(Worker* worker, Taskgroup* group, void* address);

// The same for the entry of a target task that calls the observer when the task is created (devices.h). Returns the
// copy that all such tasks share, of which the observer is notified.
[[nodiscard]] void* reduction_copy_to_claim(Worker* worker, Taskgroup* group, void* address);

// Whether the address is in a variable that a taskgroup around the current task reduces, or in another thread's copy.
[[nodiscard]] bool is_of_others_reduction(const Worker* worker, const void* address);

// Ends the innermost taskgroup and combines its reductions.
void taskgroup_end_reducing(Worker* worker, const void* codeptr);

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

}  // namespace marline
