// SPDX-License-Identifier: Apache-2.0
//
// Task reductions (OpenMP 5.2, sections 5.5.9 to 5.5.11). A taskgroup holds private copies of the reduction variables,
// one per thread of the team. A copy is made when a task of the group first asks for it on that thread; the copies are
// combined when the group has ended. A task that has a copy stays on its thread (task_flag::kPinned).
//
// Clang leaves copies, initialisation and combination to the runtime (ReductionItem). GCC allocates one block per
// thread through the runtime and does the rest itself (construct/task/gcc_reduction.hpp).
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

}  // namespace marline
