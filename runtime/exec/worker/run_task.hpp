// SPDX-License-Identifier: Apache-2.0
//
// Running a task from its beginning to its completion.
#pragma once

#include "sched/team.hpp"

namespace marline {

// Runs a ready task as a plain call on the current fiber, and completes it. Returns the successor to run next, or null.
// After the call the thread may be another one.
Task* run_task(Task* task);

// The same for a worker that measures the bodies of tasks (Thief::times_bodies).
Task* run_measured(Task* task);

// run_task for a task that may be a stolen one, or one that a stolen task has made ready.
inline Task* run_found(Task* task) { return this_worker()->thief.times_bodies() ? run_measured(task) : run_task(task); }

// The same for a new child of the current task, on `fiber`, which the current task's fiber has called
// (exec/fiber/fiber.hpp). If `fiber` is still called after it, the thread is the same.
Task* run_created(Worker* worker, Task* task, Fiber* fiber);

// Completes such a task that call_uncounted has called (exec/fiber/fiber.hpp). With `fiber`: the task has blocked, and
// is the current one of that fiber. Null: it has run through, and the current task is its creator, which has counted it
// by now.
[[nodiscard]] Task* complete_called(Worker* worker, Task* task, Fiber* fiber);

// The same for one that has run through and that its creator, the current task, has not counted. Queues a successor.
void complete_uncounted(Worker* worker, Task* task);

// complete_task (exec/worker/completion.hpp) for an undeferred task whose body was called in line. The current task is
// its parent again.
[[nodiscard]] Task* complete_undeferred(Worker* worker, Task* task);

// The same for a task with kDetach: if its event is pending, the thread that fulfils it completes the task. The current
// task is its parent again.
[[nodiscard]] Task* complete_detached(Worker* worker, Task* task);

// Called when the library that has claimed the task (graph/claims.hpp) reports its end. Any thread, also in a progress
// hook; `worker`: the thread's own, or null. Queues the tasks that become ready.
void end_claimed(Worker* worker, Task* task);
// Before that, for tools: the library does the task's work, and no thread will run it.
void detach_claimed(Worker* worker, Task* task);
// In place of end_claimed: queues the task like a task that is not claimed.
void run_claimed(Worker* worker, Task* task);

}  // namespace marline
