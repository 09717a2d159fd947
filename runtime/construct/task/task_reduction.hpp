// SPDX-License-Identifier: Apache-2.0
//
// Task reductions (OpenMP 5.2, sections 5.5.9 to 5.5.11): a taskgroup holds private copies of the reduction variables,
// one per thread of the team, made when a task of the group first asks for it on that thread, and combined when the
// group has ended. A task that holds a copy stays on its thread (task_flag::kPinned).
//
// Clang leaves copies, initialisation and combination to the runtime (ReductionItem). GCC allocates one block per
// thread through the runtime and does the rest itself (GccReduction, told apart by a tag in Taskgroup::reductions).
#pragma once

#include "sched/team.hpp"

#include <cstddef>

namespace marline {

struct ReductionItem {
  void* shared;    // what tasks name, and where the result goes
  void* original;  // what `initialise` gets as its second argument
  size_t bytes;
  void (*initialise)(void* copy, void* original);  // null: zero
  void (*finalise)(void* copy);                    // null: nothing
  void (*combine)(void* into, void* copy);
};

// Attaches the items to the innermost taskgroup of the current task; they are copied.
void reductions_attach(Worker* worker, const ReductionItem* items, size_t count);

// The current thread's copy of the variable that lies at `address` (the original, or somebody's copy). `group`: where
// to look first, null: the current task's innermost.
[[nodiscard]] void* reduction_copy(Worker* worker, Taskgroup* group, void* address);

// The same for the entry of a target task that the observer calls when the task is created (devices.h): what stands for
// the copies of all such tasks, of which the observer is told.
[[nodiscard]] void* reduction_copy_to_claim(Worker* worker, Taskgroup* group, void* address);

// Whether the address lies in a variable that a taskgroup around the current task reduces, or in another thread's copy.
[[nodiscard]] bool is_of_others_reduction(const Worker* worker, const void* address);

// Ends the innermost taskgroup and combines what is attached to it.
void taskgroup_end_reducing(Worker* worker, const void* codeptr);

// GCC's block, an array of words (GCC, libgomp/task.c and gcc/omp-low.c): [0] number of variables, [1] bytes per
// thread, [2] alignment, then the memory, [4] next block, [6] end of the memory, [7 + 3i] address of variable i,
// [8 + 3i] its offset in a thread's part.
using GccReduction = uintptr_t;

void gcc_reduction_allocate(GccReduction* chain, int threads);
void gcc_reduction_adopt(GccReduction* chain, const GccReduction* first);  // the memory that another thread allocated
void gcc_reduction_free(GccReduction* chain);
void gcc_reduction_attach(Worker* worker, GccReduction* chain);
[[nodiscard]] GccReduction* gcc_reduction_attached(Worker* worker);

// Replaces each of the `count` addresses by the current thread's copy; for the first `originals` of them, the address
// of the original goes behind the array.
void gcc_reduction_remap(Worker* worker, size_t count, size_t originals, void** addresses);

// Whether the address is that of a thread's copy in a taskgroup around the current task.
[[nodiscard]] bool gcc_reduction_has_copy(const Worker* worker, const void* address);

}  // namespace marline
