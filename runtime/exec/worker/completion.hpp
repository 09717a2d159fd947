// SPDX-License-Identifier: Apache-2.0
//
// Running a task and ending it: its end is reported to its successors, its parent and its taskgroup.
//
// Completions are reported to the parent in batches: a worker that completes several children of one parent in a row
// keeps the count (Worker::reported_*) and flushes it before it does anything other than run a child of the same parent
// in the same taskgroup. No task can notice the delay: a task that waits for a counted child also waits for the running
// one.
#pragma once

#include "sched/team.hpp"

namespace marline {

// Runs a ready task as a plain call on the current fiber, and completes it. Returns the successor to run next, or null.
// After the call the thread may be another one.
Task* run_task(Task* task);

// The same for a new child of the current task, on `fiber`, which the current task's fiber has called
// (exec/fiber/fiber.hpp). If `fiber` is still called after it, the thread is the same.
Task* run_created(Worker* worker, Task* task, Fiber* fiber);

// Completes a task whose body has ended, or that has none. Returns the successor to run next, or null.
[[nodiscard]] Task* complete_task(Worker* worker, Task* task);

// The same for an undeferred task whose body was called in line. The current task is its parent again.
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

// Reports to the parent the completions that this worker has kept back. Called before the worker idles, suspends, or
// waits.
void flush_reports(Worker* worker);

// The task's own count of children that have not completed, and whether none of its subtree is left: own thread only.
uint32_t incomplete_children(const Task* task);
bool has_no_children(const Task* task);
bool subtree_has_ended(const Task* task);

}  // namespace marline
