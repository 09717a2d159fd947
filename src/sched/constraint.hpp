// SPDX-License-Identifier: Apache-2.0
//
// The task scheduling constraint (OpenMP 5.2, section 12.9), in force with MARLINE_TASK_CONSTRAINT=strict: a thread
// starts a new tied task only if it descends from every task region that is tied to the thread and suspended outside of
// a barrier. Where a task waits in place below the new one (taskwait, creation), the new one is its descendant anyway,
// by the stacking invariant (exec/fiber.hpp). The others are
//   - the tied tasks that left the worker in exec/suspend.cpp: a list per worker, of which only the worker knows, and
//   - the tasks that opened a parallel region which the worker is still in: parents of its memberships as member 0.
//
// A task that its finder must not start goes to a list of the team. Every member looks there, for tasks that it may
// start itself. Invariant: no worker sleeps over a task that it may start. A task that enters the list wakes all
// sleepers, and a worker's set of suspended regions only shrinks by what that worker does, that is, while it is awake.
#pragma once

#include "config/options.hpp"
#include "sched/team.hpp"

namespace marline {

// While it lives, `task`, the worker's current one, counts as suspended on the worker, if the constraint is strict and
// the task tied; else it does nothing. Lies on the task's own stack.
class TiedSuspension {
 public:
  TiedSuspension(Worker* worker, Task* task) {
    if (options().strict_constraint && task->has(task_flag::kTied)) [[unlikely]] {
      enter(worker, task);
    }
  }
  ~TiedSuspension() {
    if (worker_ != nullptr) [[unlikely]] {
      leave();
    }
  }
  TiedSuspension(const TiedSuspension&) = delete;
  TiedSuspension& operator=(const TiedSuspension&) = delete;

  const Task* task() const { return task_; }
  const TiedSuspension* next() const { return next_; }

 private:
  void enter(Worker* worker, Task* task);
  void leave();

  Worker* worker_ = nullptr;
  Task* task_ = nullptr;
  TiedSuspension* previous_ = nullptr;
  TiedSuspension* next_ = nullptr;
};

bool allowed_by_constraint(const Worker* worker, const Task* task);

// Whether the worker may start (or go on with) the task. Owner of the worker only.
inline bool may_start(const Worker* worker, const Task* task) {
  return !options().strict_constraint || allowed_by_constraint(worker, task);
}

// Leaves a ready task that the caller must not start to others, or to itself at another time. Of an undeferred task, the
// creator has just been suspended: it is resumed by whoever may start the task, there.
void defer(Task* task);

// The oldest deferred task of the member's team that the worker may start (or the creator to resume), or null.
Task* take_deferred(Worker* worker, Member* member);

// Whether take_deferred might find something. The sleep protocol's second look: seq_cst.
bool deferred_in_sight(Worker* worker, Member* member);

}  // namespace marline
