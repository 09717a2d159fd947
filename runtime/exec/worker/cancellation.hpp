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

#include "base/conditions.hpp"
#include "sched/team.hpp"

namespace marline {

// Counts the cancelled taskgroups and regions in the whole process. While there are none, no thread searches for them.
inline void count_cancellation() { g_conditions.fetch_add(condition::kCancellation, relaxed); }
inline void uncount_cancellation() { g_conditions.fetch_sub(condition::kCancellation, relaxed); }
inline bool any_cancellation() { return any_condition(condition::kCancellations); }

// Sets the fields that this protocol keeps in a group, before the group is used. `outer` and `owner` are set; the
// owner's `taskgroup` is still the group outside.
void begin_order(Taskgroup* group, bool is_construct);

// All tasks of the group have completed.
void end_order(Worker* worker, Taskgroup* group);

// The order's owner is about to create a task or a group in it. Serials saturate: all tasks with the last serial are
// cancelled together, and none of them may call cancel_later, which could not tell which tasks came after the caller.
inline uint32_t next_serial(Taskgroup* order) {
  if (order->last_serial != Taskgroup::kLastSerial) ++order->last_serial;
  return order->last_serial;
}

// The task, a new child of `creator`, which is the current task, is in its creator's group.
[[gnu::always_inline]] inline void join_group(const Task* creator, Task* task) {
  Taskgroup* group = creator->taskgroup;
  task->taskgroup = group;
  if (group != nullptr) task->serial = group->owner == creator ? next_serial(group->order) : creator->serial;
}

// The owner has created so many further tasks in it.
inline void skip_serials(Taskgroup* order, uint64_t tasks) {
  const uint64_t left = Taskgroup::kLastSerial - order->last_serial;
  order->last_serial += static_cast<uint32_t>(tasks < left ? tasks : left);
}

// acquire pairs with cancel_region (exec/team/region_cancellation.hpp): what was done before the cancellation is
// visible to a thread that finds the bit set.
inline bool is_region_cancelled(const Team* team) { return (team->cancelled.load(acquire) & Team::kRegion) != 0; }

bool is_beyond_cancel(const Task* task);

// Whether the task, which has not started, must not run. Relaxed: a task that is ordered after the cancellation is
// ordered after the increment of the count, too.
inline bool is_cancelled(const Task* task) { return any_cancellation() && is_beyond_cancel(task); }

// Whether a task that the current one creates now would not run. For creators of tasks with copies of objects that only
// the body destroys (kObjects without kDestroys): such a task is better not created. Such tasks that exist when
// `cancel` comes do run, to their end or to their first cancellation point, as OpenMP allows ("may be discarded") and
// libgomp has it.
bool is_creation_cancelled(const Task* creator);

// Completes a cancelled task in place of running it, and reports that to a tool. Returns the successor to run next, or
// null.
[[nodiscard]] Task* discard_task(Worker* worker, Task* task);

// The part of discard_task for a tool that wants these events. `worker` is in a region and has a fiber.
void announce_discard(Worker* worker, Task* task);

// Leaves the descriptor of a discarded task to the innermost cancelled taskgroup, from `innermost` outwards. That group
// frees it, in place of the caller, when the group ends: until then the program may fulfil the task's event. False:
// there is no such group.
[[nodiscard]] bool leave_to_group(Taskgroup* innermost, Task* task);

// cancel taskgroup, called in a task of the group: tasks of the innermost taskgroup that have not started will not
// start. No effect without a taskgroup.
void cancel_group(const Task* current);

// Whether the innermost taskgroup is cancelled, so that this task would not be started now.
bool is_group_cancelled(const Task* current);

// Keeps the descriptors of discarded tasks until the cancelled construct ends: until then their events may be
// fulfilled.
void keep_until_end(Atomic<Task*>& kept, Task* task);
void release_kept(Worker* worker, Atomic<Task*>& kept);

// marline.h
void cancel_later(const Task* current);
bool is_later_cancelled(const Task* current);
bool is_task_cancelled(const Task* current);

}  // namespace marline
