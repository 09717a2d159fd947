// SPDX-License-Identifier: Apache-2.0
//
// Transparent tasks (OpenMP 6.0, section 17.9.6), which import and export dependences: their children are ordered with
// the siblings of the task as if they were siblings themselves. Clang 23 does not pass on what the clause says, so
// every transparent task does both.
//
// Import: the children wait for the tasks that the parent had created before the transparent one, except at addresses
// that this one names itself: it has waited there for what matters. Export: a transparent task ends with its children,
// so who waits for it waits for them. One without a depend clause comes behind all its dependent siblings and before
// the later ones.
#pragma once

#include "construct/task/task.hpp"

namespace marline {

// The current task has made `task`, and calls this before it spawns or begins it. `list`: its depend clauses.
void begin_transparent(Worker* worker, Task* task, const Dependence* list, size_t count);

// The body of the current task, a transparent one, has ended: waits for its children.
void end_transparent();

}  // namespace marline
