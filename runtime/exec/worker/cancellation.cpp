// SPDX-License-Identifier: Apache-2.0
//
// Cancels the tasks of taskgroups; the order of tasks is described in cancellation.hpp. Any task of the group may
// cancel; the worker that would run a cancelled task discards it.
#include "exec/worker/cancellation.hpp"

#include "base/check.hpp"
#include "exec/worker/announce.hpp"
#include "exec/worker/completion.hpp"
#include "graph/descriptor.hpp"
#include "tool/target_observer.hpp"
#include "tool/tool.hpp"

namespace marline {

namespace {

// The groups around a task, innermost first, each with the task's serial in its order.
struct Walk {
  const Taskgroup* group;
  uint32_t serial;

  explicit Walk(const Task* task) : group(task->taskgroup), serial(task->serial) {}

  Taskgroup* order() const { return group->order; }
  void outward() {
    serial = order()->place;
    group = order()->outer;
  }
  // Moves to the innermost group that belongs to a construct of the program. False: there is none.
  bool find_construct() {
    while (group != nullptr && !order()->is_construct) outward();
    return group != nullptr;
  }
};

// acquire pairs with lower: what was done before the cancellation is visible to a thread that finds the group
// cancelled.
bool is_cancelled_at(const Walk& walk) { return walk.serial > walk.order()->last_to_run.load(acquire); }

bool is_cancelled_from(Walk walk) {
  while (walk.find_construct()) {
    if (is_cancelled_at(walk)) return true;
    walk.outward();
  }
  return false;
}

// Only the task's body would destroy its objects, as with GCC.
bool body_destroys(const Task* task) { return task->has(task_flag::kObjects) && !task->has(task_flag::kDestroys); }

// Whether marline_taskgroup_cancel_later has cancelled the task: it promises that tasks created later do not run.
// (`cancel` lowers last_to_run to 0.)
bool is_cancelled_later_from(Walk walk) {
  for (; walk.find_construct(); walk.outward()) {
    if (is_cancelled_at(walk) && walk.order()->last_to_run.load(relaxed) != 0) return true;
  }
  return false;
}

// A program may hold the handle of the task's event and fulfil it: the descriptor stays until the group ends.
void keep_descriptor(Task* task) {
  if (task->has(task_flag::kInTable)) {
    task->references.fetch_add(1, relaxed);
  } else {
    task->flags |= task_flag::kInTable;  // no other thread knows the task
    task->references.store(2, relaxed);
  }
  // The cancelled group keeps the descriptor; it may be a group around the task's own. Only that group releases it.
  Walk walk(task);
  while (walk.find_construct() && !is_cancelled_at(walk)) walk.outward();
  keep_until_end(walk.group != nullptr ? walk.order()->kept : task->team->kept, task);
}

// The private objects of Clang's tasks; GCC's outlined function would destroy them at its end (docs/guide).
void destroy_privates(Worker* worker, Task* task) {
  Task* previous = worker->task;
  worker->task = task;
  task->flags |= task_flag::kDiscarded;
  task->invoke(task);
  this_worker()->task = previous;
}

// From now on, tasks of the order with serials above `last` must not start.
void lower(Taskgroup* order, uint32_t last) {
  uint32_t known = order->last_to_run.load(relaxed);
  count_cancellation();
  while (last < known && !order->last_to_run.compare_exchange_weak(known, last, release, relaxed)) {
  }
  bool was_first = last < known && known == Taskgroup::kAll;
  if (!was_first) uncount_cancellation();
  tool::report_cancellation();
}

}  // namespace

void keep_until_end(Atomic<Task*>& kept, Task* task) {
  // relaxed: the list is read once all tasks have completed, and that orders the reader after this.
  task->next = kept.load(relaxed);
  while (!kept.compare_exchange_weak(task->next, task, relaxed, relaxed)) {
  }
}

void release_kept(Worker* worker, Atomic<Task*>& kept) {
  for (Task* task = kept.load(relaxed); task != nullptr;) {
    Task* next = task->next;
    release_task_from_table(worker, task);
    task = next;
  }
  kept.store(nullptr, relaxed);
}

bool leave_to_group(Taskgroup* innermost, Task* task) {
  for (Taskgroup* group = innermost; group != nullptr; group = group->order->outer) {
    if (!group->order->is_construct || group->order->last_to_run.load(relaxed) == Taskgroup::kAll) continue;
    keep_until_end(group->order->kept, task);
    return true;
  }
  return false;
}

void begin_order(Taskgroup* group, bool is_construct) {
  Taskgroup* around = group->outer != nullptr ? group->outer->order : nullptr;
  bool same_owner = around != nullptr && around->owner == group->owner;
  group->order = !is_construct && same_owner ? around : group;
  group->is_construct = is_construct;
  group->last_serial = 0;
  group->place = around == nullptr ? 0 : same_owner ? next_serial(around) : group->owner->serial;
  group->last_to_run.store(Taskgroup::kAll, relaxed);
  group->kept.store(nullptr, relaxed);
}

void end_order(Worker* worker, Taskgroup* group) {
  if (group->last_to_run.load(relaxed) == Taskgroup::kAll) return;
  uncount_cancellation();
  release_kept(worker, group->kept);
}

bool is_beyond_cancel(const Task* task) {
  if (body_destroys(task)) return is_cancelled_later_from(Walk(task));
  return is_region_cancelled(task->team) || is_cancelled_from(Walk(task));
}

bool is_creation_cancelled(const Task* creator) {
  if (!any_cancellation()) return false;
  if (is_region_cancelled(creator->team)) return true;
  Walk walk(creator);
  if (!walk.find_construct()) return false;
  if (walk.order()->owner == creator) {  // the task's serial would be higher than all that exist
    if (walk.order()->last_to_run.load(acquire) != Taskgroup::kAll) return true;  // acquire: as in is_cancelled_at
    walk.outward();
  }
  return is_cancelled_from(walk);
}

void announce_discard(Worker* worker, Task* task) {
  Task* other = worker->task != nullptr ? worker->task : shown_task(worker);
  if (tool::on(tool::event::kTaskSchedule)) {
    tool::task_schedule(&other->tool_data, tool::TaskStatus::kSwitch, &task->tool_data);
  }
  if (tool::on(tool::event::kCancel)) {
    using namespace tool::cancel_bits;
    int what = is_region_cancelled(task->team) ? kParallel : kTaskgroup;
    tool::cancel(&task->tool_data, what | kDiscardedTask, nullptr);
  }
  if (tool::on(tool::event::kTaskSchedule)) {
    tool::task_schedule(&task->tool_data, tool::TaskStatus::kCancel, &other->tool_data);
  }
}

Task* discard_task(Worker* worker, Task* task) {
  if (tool::on(tool::event::kTaskSchedule | tool::event::kCancel)) announce_discard(worker, task);
  if (task->has(task_flag::kDestroys)) destroy_privates(worker, task);
  // A persistent task's descriptor belongs to its graph and may be in use again soon, so it cannot be put into a list.
  if (task->has(task_flag::kPersistent)) {
    task->flags |= task_flag::kDiscarded;
  } else if (task->has(task_flag::kDetach)) {
    keep_descriptor(task);
  }
  return complete_task(this_worker(), task);
}

void cancel_later(const Task* current) {
  Walk walk(current);
  if (!walk.find_construct()) fatal("marline_taskgroup_cancel_later was called outside of a taskgroup");
  Taskgroup* order = walk.order();
  uint32_t last = order->owner == current ? order->last_serial : walk.serial;
  if (last == Taskgroup::kLastSerial) {
    fatal(
        "marline_taskgroup_cancel_later: of what a taskgroup creates after its first %u tasks and groups it does not "
        "know the order; begin another taskgroup",
        last - 1);
  }
  lower(order, last);
}

void cancel_group(const Task* current) {
  Walk walk(current);
  if (walk.find_construct()) lower(walk.order(), 0);  // serials begin at 1
}

bool is_group_cancelled(const Task* current) {
  if (!any_cancellation()) return false;
  Walk walk(current);
  return walk.find_construct() && walk.order()->owner != current && is_cancelled_at(walk);
}

bool is_later_cancelled(const Task* current) {
  if (!any_cancellation()) return false;
  Walk walk(current);
  if (!walk.find_construct()) return false;
  if (walk.order()->last_to_run.load(relaxed) != Taskgroup::kAll) return true;
  walk.outward();
  return is_cancelled_from(walk);
}

bool is_task_cancelled(const Task* current) {
  if (!any_cancellation()) return false;
  Walk walk(current);
  while (walk.group != nullptr && walk.order()->owner == current)
    walk.outward();  // the task is not in the groups that it has opened
  return is_cancelled_from(walk);
}

}  // namespace marline
