// SPDX-License-Identifier: Apache-2.0
//
// Transparent tasks (OpenMP 6.0, section 17.9.6): their children are ordered with the siblings of the task
// (graph/transparent_scope.hpp). Each transparent task imports and exports, since Clang does not pass the clause's
// argument on (abi/kmp/types.hpp).
#pragma once

#include "construct/task/task.hpp"

namespace marline {

// spawn_task for a transparent task.
void spawn_transparent(Worker* worker, Task* task, const Dependence* list, size_t count, const void* codeptr);

// A task of a transparent taskloop: spawn_task, and run_undeferred.
void spawn_transparent_chunk(Worker* worker, Task* task, const void* codeptr);
void run_transparent_chunk(Worker* worker, Task* task, const void* codeptr);

// Called before begin_undeferred, when the task's dependences have been waited for.
void open_undeferred_transparent(Worker* worker, Task* task, const void* codeptr);

// The body of the current task, a transparent one, has ended.
void end_transparent();

}  // namespace marline
