// SPDX-License-Identifier: Apache-2.0
//
// Holds: a task takes a hold on itself, and does not complete before the hold is released (marline_task_hold).
//
// An explicit task counts its holds, and one for its body, in `predecessors`, which has no other use while a task runs;
// task_flag::kHolds says so. The thread that runs the task takes holds, any thread releases them. The count has 31
// bits: each hold belongs to something that is under way and has memory of its own. Invariant: exactly one subtraction
// brings the count to zero, and its thread continues the completion. At the end of the body, the thread completes the
// task itself. At a release, it makes the task ready with kBodyDone or, if the task's creator waits for it, to be
// resumed.
//
// An implicit task ends when its team has passed the barrier, so its hold counts as one more task in the subtree for
// which the next barrier waits.
#pragma once

#include "sched/team.hpp"

namespace marline {

// Identifies a hold for its release: the task and the kind of task, because only the task's own thread may read its
// flags.
struct Hold;

// Takes a hold on the current task. Null where there is no task that completes: outside of parallel regions and
// explicit tasks, on threads that run no task, and in progress hooks.
Hold* hold_current_task();

// The hold of an explicit task, for a thread that knows that there is one.
Hold* hold_of(Task* task);

// Any thread. The task may be gone when this returns.
void release_hold(Worker* worker, Hold* hold);

// The body of a held task has ended. True: holds are left, and the thread that releases the last one completes the
// task.
[[nodiscard]] bool leave_to_holds(Task* task);

// The same for an undeferred task, whose creator is suspended until the last hold is released.
void wait_for_holds(Task* task);

// For tools: whether more holds than the body's own are left. The answer stays true while the caller has g_detach_lock.
bool has_holds_left(const Task* task);

}  // namespace marline
