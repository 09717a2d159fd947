// SPDX-License-Identifier: Apache-2.0
//
// Throttling: limits on the number and memory of a generating task's unfinished tasks. Before it creates a task, its
// thread checks MARLINE_MAX_TASKS (children that have not completed) and MARLINE_MAX_BYTES (memory of the worker's
// pool), but only when Task::created has all the bits of Throttling::mask. Above a limit the thread runs other
// tasks over the generating one, each on a fiber of its own, until there is room again. MARLINE_MAX_READY is checked by
// the task construct, which runs a new task at once (construct/task/task.cpp).
//
// Invariant: a generating task is held for a bounded time after the last completion that makes room. So it also goes on
// where its children wait for tasks that it has yet to create: docs/design/throttling.md.
#pragma once

#include "sched/team.hpp"

namespace marline {

// The most callers that wait in place, one on another, while they let other tasks run: bounds the fibers that a worker
// holds.
inline constexpr int kDeepest = 8;

[[gnu::noinline, gnu::cold]] Worker* throttle(Worker* worker);

// Whether the limits must be checked.
inline bool throttle_is_due(const Worker* worker) { return (~worker->task->created & worker->throttling.mask) == 0; }

// The current task is about to create a deferred task. Returns its worker, another one perhaps if it is untied.
inline Worker* throttle_before_creation(Worker* worker) {
  if (throttle_is_due(worker)) [[unlikely]] {
    return throttle(worker);
  }
  return worker;
}

// The next task needs a mapping of its own: its creation checks the limits in any case.
inline void throttle_soon(Worker* worker) { worker->throttling.mask = 0; }

}  // namespace marline
