// SPDX-License-Identifier: Apache-2.0
//
// Transparent tasks (OpenMP 6.0, section 17.9.6), which import and export dependences: their children are ordered with
// the siblings of the task as if they were siblings themselves. Clang 23 does not pass the clause's argument on, so
// every transparent task does both.
//
// Import: the children wait for the tasks that the parent created before the transparent task. An exception are
// addresses that the transparent task names itself: it has already waited there. Export: a transparent task ends after
// its children, so a task that waits for it waits for them. A transparent task without a depend clause is ordered after
// all earlier dependent siblings and before all later ones.
#pragma once

#include "construct/task/task.hpp"

namespace marline {

// Called by the current task, which has allocated `task`, before it spawns or begins it. `list`: the depend clauses of
// `task`.
void begin_transparent(Worker* worker, Task* task, const Dependence* list, size_t count);

// The body of the current task, a transparent one, has ended: waits for its children.
void end_transparent();

}  // namespace marline
