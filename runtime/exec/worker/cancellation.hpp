// SPDX-License-Identifier: Apache-2.0
//
// Cancelling tasks: a worker that is about to start a task calls is_cancelled; if that is true, it discards the task
// instead. A task is cancelled with its region (exec/team/region_cancellation.hpp) or with a taskgroup around it.
// `cancel taskgroup` cancels all tasks of the group that have not started. marline_taskgroup_cancel_later, called in a
// task T of a taskgroup G, cancels those that were created after T.
//
// "After" is an order of serials. Only the task that opened G gives serials: to the tasks and inner taskgroups that it
// creates in G. A descendant of such a task has the serial of this ancestor (Task::serial), because it could be created
// only because the ancestor ran. In an inner taskgroup, numbers start anew; for the surrounding group, everything in
// the inner group has the inner group's serial (Taskgroup::place). If a group does not belong to a construct of the
// program (an iteration of a persistent graph), its tasks are numbered in the surrounding group.
//
// Invariant: Taskgroup::last_to_run only falls, so a cancelled task stays cancelled. A task that is ordered after the
// call of cancel_later sees the new value; a task that starts at the same time may or may not see it.
#pragma once

#include "sched/team.hpp"

namespace marline {

// Taskgroups and regions that are cancelled, in the whole process. While there are none, nobody looks for them.
extern Atomic<uint32_t> g_cancellations;

// Before a group is used: what this protocol keeps in it. `outer`, `owner` and the owner's `taskgroup` are as they were
// outside.
void begin_order(Taskgroup* group, bool is_construct);

// All tasks of the group have completed.
void end_order(Worker* worker, Taskgroup* group);

// The order's owner is about to create something in it. Serials saturate: what shares the last one is cancelled
// together, and none of it may call cancel_later, which cannot tell what came after it.
inline uint32_t next_serial(Taskgroup* order) {
  if (order->last_serial != Taskgroup::kLastSerial) ++order->last_serial;
  return order->last_serial;
}

bool is_beyond_cancel(const Task* task);

// Whether the task, which has not started, must not run. Relaxed: the count was raised before whatever orders the task
// after the cancellation.
inline bool is_cancelled(const Task* task) { return g_cancellations.load(relaxed) != 0 && is_beyond_cancel(task); }

// Whether a task that the current one creates now would not run. For who makes a task with copies of objects that only
// its body destroys (kObjects without kDestroys): better not to make it. Those that exist when `cancel` comes run, to
// their end or to their first cancellation point, as OpenMP allows ("may be discarded") and libgomp has it.
bool is_creation_cancelled(const Task* creator);

// Completes a cancelled task in place of running it, and tells a tool. Returns the successor to run next, or null.
[[nodiscard]] Task* discard_task(Worker* worker, Task* task);

// The part for the tool, which listens. `worker`: in a region, with a fiber.
void announce_discard(Worker* worker, Task* task);

// Has the innermost cancelled taskgroup, from `innermost` on, free the descriptor of a task that was discarded, in
// place of the caller, when it ends: until then the program may fulfil the task's event. False: there is none.
[[nodiscard]] bool leave_to_group(Taskgroup* innermost, Task* task);

// cancel taskgroup, in a task of it: the innermost one's tasks that have not started will not. Nothing without a
// taskgroup.
void cancel_group(const Task* current);

// Whether the task is one that a cancelled innermost taskgroup would not start.
bool is_group_cancelled(const Task* current);

// The descriptors of discarded tasks whose events may be fulfilled until the construct ends that is cancelled.
void keep_until_end(Atomic<Task*>& kept, Task* task);
void release_kept(Worker* worker, Atomic<Task*>& kept);

// marline.h
void cancel_later(const Task* current);
bool is_later_cancelled(const Task* current);
bool is_task_cancelled(const Task* current);

}  // namespace marline
