// SPDX-License-Identifier: Apache-2.0
//
// The task scheduling constraint (OpenMP 5.2, section 12.9), in force with MARLINE_TASK_CONSTRAINT=strict: a thread
// starts a new tied task only if the task descends from every task that is tied to the thread and not in a barrier. A
// parallel region also starts a tied task, the implicit task of the thread that opens the region. An untied task that
// is pinned to its thread (exec/worker/suspend.hpp) counts as tied from then on.
//
// The worker finds the tasks that are tied to its thread by their frames:
//   - the frames of the fiber that the thread is on: Worker::task;
//   - the frames of the fibers that it has left, suspended or waiting in place: a list of LeftFrames, entered where the
//     thread leaves a fiber, in exec/fiber/fiber.cpp and construct/task/task.cpp. A fiber with the frame of a tied task
//     stays on its worker, so only the worker uses the list.
// On one fiber each tied task descends from the tied tasks below it, so it is enough to check the innermost one. An
// implicit task in a barrier represents its team: the barrier does not end before the team's tasks have ended, but
// tasks of surrounding teams may last longer.
//
// Why the constraint alone cannot cause a deadlock: each new tied task descends from all tasks that bind the thread, so
// these tasks form a line of descent. Every wait is for descendants: a taskwait, a taskgroup, a region's end, and a
// start that must wait for tasks further down the line. So on some thread the last task of the line can continue, and
// its own descendants may start there.
//
// If a worker finds a task that it must not start, it puts the task on a list of the team. A task that waits for the
// permission to start another task is on this list, too. Every member takes tasks from the list. Invariant: no worker
// sleeps while the list has a task that it may start. When a task enters the list, all sleepers are woken; and only a
// worker's own actions, while it is awake, reduce the set of tasks that bind it.
#pragma once

#include "config/options.hpp"
#include "sched/team.hpp"

namespace marline {

// A tied task with a frame on some fiber. Copies what the checks need from the task: once the task is suspended, only
// the thread that makes it ready may read its flags.
struct TiedFrame {
  const Task* task = nullptr;      // null: there is none
  const Member* member = nullptr;  // of an implicit task; otherwise null
};

// The scope in which the worker is on another fiber than its current task's. The object is on the stack that the worker
// has left. Without MARLINE_TASK_CONSTRAINT=strict it does nothing.
class LeftFrames {
 public:
  LeftFrames(Worker* worker, int tied_frames) {
    if (options().strict_constraint && tied_frames > 0) [[unlikely]] {
      enter(worker);
    }
  }
  ~LeftFrames() {
    if (worker_ != nullptr) [[unlikely]] {
      leave();
    }
  }
  LeftFrames(const LeftFrames&) = delete;
  LeftFrames& operator=(const LeftFrames&) = delete;

  const TiedFrame& innermost() const { return innermost_; }
  const LeftFrames* next() const { return next_; }

 private:
  void enter(Worker* worker);
  void leave();

  Worker* worker_ = nullptr;
  TiedFrame innermost_;
  LeftFrames* previous_ = nullptr;
  LeftFrames* next_ = nullptr;
};

bool allowed_by_constraint(const Worker* worker, const Task* task);

// Whether the worker may start (or continue) the task. Owner of the worker only.
inline bool may_start(const Worker* worker, const Task* task) {
  return !options().strict_constraint || allowed_by_constraint(worker, task);
}

// Whether the worker may start a tied task that `creator` creates, or keep `creator` on its thread. Only where the
// constraint is strict.
bool may_start_child(const Worker* worker, const Task* creator);

// Puts a ready task that the caller must not start on its team's list: another worker takes the task, or the caller
// does so later. Also for a suspended task that waits until its thread may start one of its children: a member of the
// team that may start the child resumes the task.
void defer(Task* task);

// The oldest deferred task of the member's team that the worker may start or resume, or null.
Task* take_deferred(Worker* worker, Member* member);

// Whether take_deferred might find a task. seq_cst: the second look of the sleep protocol.
bool deferred_in_sight(Worker* worker, Member* member);

}  // namespace marline
