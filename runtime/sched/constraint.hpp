// SPDX-License-Identifier: Apache-2.0
//
// The task scheduling constraint (OpenMP 5.2, section 12.9), in force with MARLINE_TASK_CONSTRAINT=strict: a thread
// starts a new tied task only if it descends from every task that is tied to the thread and not in a barrier. A
// parallel region starts a tied task as well, the implicit one of the thread that opens it; and an untied task that is
// pinned to its thread (exec/worker/suspend.hpp) counts as tied from then on.
//
// The worker finds these tasks by their frames:
//   - the frames of the fiber that the thread is on: Worker::task;
//   - the frames of the fibers that it has left, suspended or waiting in place: a list of LeftFrames, entered where the
//     thread leaves one, in exec/fiber/fiber.cpp and construct/task/task.cpp. A fiber with the frame of a tied task
//     stays on its worker, so only the worker uses the list.
// On one fiber each tied task descends from the tied ones below it, so it is enough to check the innermost one. An
// implicit task in a barrier stands for its team: the barrier does not end before the team's tasks have ended, but
// tasks of surrounding teams may last longer.
//
// Why that cannot deadlock by itself: each new tied task descends from all that bind the thread, so these are a line of
// descent. Every wait is for descendants: a taskwait, a taskgroup, a region's end, and a start that must wait for tasks
// further down the line. So on some thread the last task of the line can continue, and its own descendants may start
// there.
//
// If a worker finds a task that it must not start, it puts the task on a list of the team. A task that waits for the
// permission to start another one is on this list, too. Every member looks there. Invariant: no worker sleeps while the
// list has a task that it may start. When a task enters the list, all sleepers are woken; and only a worker's own
// actions, while it is awake, reduce the set of tasks that bind it.
#pragma once

#include "config/options.hpp"
#include "sched/team.hpp"

namespace marline {

// A tied task with a frame on some fiber. What is asked of it later is noted here: once the task is suspended, its
// flags are for whoever makes it ready.
struct TiedFrame {
  const Task* task = nullptr;      // null: there is none
  const Member* member = nullptr;  // of an implicit task, else null
};

// While it lives, the worker is on another fiber than that of its current task. Lies on the stack that it left. Does
// nothing unless the constraint is strict.
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

// Whether the worker may start (or go on with) the task. Owner of the worker only.
inline bool may_start(const Worker* worker, const Task* task) {
  return !options().strict_constraint || allowed_by_constraint(worker, task);
}

// Whether the worker may start a tied task that `creator` creates, or keep `creator` on its thread. Only where the
// constraint is strict.
bool may_start_child(const Worker* worker, const Task* creator);

// Leaves a ready task that the caller must not start to others, or to itself at another time. Or a suspended one that
// waits until its thread may start a child of it: it is resumed by a member of the team for which that holds.
void defer(Task* task);

// The oldest deferred task of the member's team that the worker may start or resume, or null.
Task* take_deferred(Worker* worker, Member* member);

// Whether take_deferred might find something. The sleep protocol's second look: seq_cst.
bool deferred_in_sight(Worker* worker, Member* member);

}  // namespace marline
