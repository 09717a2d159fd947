// SPDX-License-Identifier: Apache-2.0
//
// single (OpenMP 5.2, section 11.1) and its copyprivate clause.
#pragma once

#include "sched/team.hpp"

namespace marline {

// Whether the compiler calls single_leave where the block ends; GCC does not.
enum class SingleEnd { kReported, kUnreported };

// True for the one thread of the team that runs the block. codeptr: for tools; by default the return address of the
// calling entry point.
[[nodiscard]] bool single_enter(Worker* worker, SingleEnd end, const void* codeptr = __builtin_return_address(0));
void single_leave(Worker* worker, const void* codeptr = __builtin_return_address(0));

// copyprivate: the thread that ran the block publishes its data, the other threads receive it. Both calls contain a
// barrier. The data stays valid until the next barrier, to which every thread must come: single_end_copying, or a
// barrier in the program's code. In a cancelled region Member::copies makes the threads wait at that barrier, too
// (cancellable_barrier).
void single_publish(Worker* worker, void* data, const void* codeptr = __builtin_return_address(0));
[[nodiscard]] void* single_receive(Worker* worker, const void* codeptr = __builtin_return_address(0));
void single_end_copying(Worker* worker, const void* codeptr = __builtin_return_address(0));

}  // namespace marline
