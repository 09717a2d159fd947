// SPDX-License-Identifier: Apache-2.0
//
// A task that has ended keeps its descriptor while it has living descendants: their ends are counted up the line of
// descent (completion.cpp). A chain of tasks that each create the next one and end must not keep its whole history. So
// the line is shortened: a descendant that ends takes the place of ancestors that have ended and have no other living
// child.
#pragma once

#include "sched/team.hpp"

namespace marline {

// The body of `task` has ended, which has been reported to its parent; the task has children and waits for its subtree
// after this. Only the caller uses the task's `parent` meanwhile. Cost: a few instructions, and on average one step up
// the line of descent.
void shed_ended_ancestors(Worker* worker, Task* task);

extern SpinLock g_sweep_lock;  // held across fork

}  // namespace marline
