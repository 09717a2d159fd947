// SPDX-License-Identifier: Apache-2.0
//
// single (OpenMP 5.2, section 11.1) and its copyprivate clause.
#pragma once

#include "sched/team.hpp"

namespace marline {

// Whether the compiler calls single_leave where the block ends; GCC does not.
enum class SingleEnd { kTold, kUntold };

// True for the one thread of the team that runs the block. codeptr: for tools; by default where the entry point that
// calls it returns to.
[[nodiscard]] bool single_enter(Worker* worker, SingleEnd end, const void* codeptr = __builtin_return_address(0));
void single_leave(Worker* worker, const void* codeptr = __builtin_return_address(0));

// copyprivate: the thread that ran the block publishes, the others receive; both contain a barrier, and the data stays
// valid until the next one, which each must come to: single_end_copying, or one that the program's code has there. In a
// cancelled region Member::copies makes that one wait as well (cancellable_barrier).
void single_publish(Worker* worker, void* data, const void* codeptr = __builtin_return_address(0));
[[nodiscard]] void* single_receive(Worker* worker, const void* codeptr = __builtin_return_address(0));
void single_end_copying(Worker* worker, const void* codeptr = __builtin_return_address(0));

}  // namespace marline
