// SPDX-License-Identifier: Apache-2.0
//
// The points at which the current task leaves its thread. After any of these calls the task may be on another worker
// (if it is untied and no tied task is below it on the fiber), so call this_worker() again.
#pragma once

#include "config/options.hpp"
#include "sched/team.hpp"
#include "task/waiting.hpp"

namespace marline {

// Suspends the current task until `event` is fulfilled; returns at once if it is. A thread that runs no task of the
// runtime sleeps instead. `why` is for `marline ps`.
void wait_event(Event* event, const WaitReason& why);
inline void wait_event(Event* event) { wait_event(event, {WaitKind::kEvent, event, nullptr}); }

// Where threads are more than cores, the thread that the current task waits for may need this core. Yields the core, a
// few times at most, until `done(context)`: some yields take less time than to suspend a task and wake a thread. False:
// not done yet. Ends early if there is a task to run instead, or if another process keeps the core. Does not yield
// where each thread has a core, or where the environment says how to wait (OMP_WAIT_POLICY, MARLINE_SPIN).
[[nodiscard]] bool yield_core_until(bool (*done)(const void* context), const void* context);

// A taskyield: lets other ready tasks run, if there are any, and comes back after them.
void yield_task();

// For a task that waits in place and finds nothing to do while another fiber of this worker waits for it to block: goes
// back to that fiber, and continues after all other ready tasks.
void yield_to_caller();

// Suspends the current task; `publish(task, context)` is called on another fiber once the task can be resumed, and
// makes it known to the thread that will enqueue it. `why` is for `marline ps`.
void suspend_task(void (*publish)(Task* task, void* context), void* context, const WaitReason& why);

// Where the task scheduling constraint is strict: suspends the current task until its thread, maybe another one, may
// start a tied child of it. Returns the worker then.
Worker* wait_for_permission(Worker* worker);
inline Worker* wait_until_child_may_start(Worker* worker) {
  return options().strict_constraint ? wait_for_permission(worker) : worker;
}

// Keeps the current task on its thread from now on (it holds something of the thread's). Returns its worker, another
// one perhaps where the task scheduling constraint is strict.
Worker* pin_current_task(Worker* worker);

// Whether a library call that would block the thread should suspend the task instead (marline_can_suspend).
bool can_suspend();

}  // namespace marline
