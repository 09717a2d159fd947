// SPDX-License-Identifier: Apache-2.0
//
// Ending tasks. Any worker. The task belongs to the caller until its completion is reported to its parent.
#include "exec/worker/completion.hpp"

#include "config/options.hpp"
#include "exec/team/barrier.hpp"
#include "exec/worker/ended_ancestors.hpp"
#include "graph/dependences.hpp"
#include "graph/descriptor.hpp"
#include "sched/constraint.hpp"
#include "sched/held.hpp"
#include "sched/locality.hpp"
#include "sched/queue.hpp"
#include "tool/tool.hpp"

namespace marline {

namespace {

// The body of `task` has ended, and so has its whole subtree: releases its descriptor, and maybe its parent's.
void end_subtree(Worker* worker, Task* task);

// Subtracts `amount` (children_word) from the parent's counts. The thread that brings a count to zero makes the waiting
// parent ready, or ends the parent's subtree.
void report_parent(Worker* worker, Task* parent, uint64_t amount) {
  using namespace children_word;
  // acq_rel: the children's effects are released to the waiter, and the last thread that reports acquires them all for
  // it.
  uint64_t old = parent->children.fetch_sub(amount, acq_rel);
  uint64_t now = old - amount;
  if ((now & kWaitingForChildren) != 0) {
    if (incomplete(now) == 0 && incomplete(old) != 0) enqueue(worker, parent);
  } else if ((now & kWaitingForSubtree) != 0 && alive(now) == 0) {
    end_subtree(worker, parent);
  }
}

void notify_group(Worker* worker, Taskgroup* group, int64_t tasks) {
  if (group == nullptr) return;
  Task* owner = group->owner;  // the group may be gone after the subtraction
  int64_t now = group->count.fetch_sub(tasks * Taskgroup::kOne, acq_rel) - tasks * Taskgroup::kOne;
  if (now == Taskgroup::kWaiting) enqueue(worker, owner);
}

void end_subtree(Worker* worker, Task* task) {
  if (task->has(task_flag::kImplicit)) {
    barrier_arrive(static_cast<Member*>(task->block));
    return;
  }
  Task* parent = task->parent;
  if (task->table != nullptr) drop_table(worker, task);  // the table that its descendants shared
  // A persistent task's descriptor is used again once its group is empty: so its end is reported to the group last.
  Taskgroup* group = task->has(task_flag::kPersistent) ? task->taskgroup : nullptr;
  release_task(worker, task);
  report_parent(worker, parent, children_word::kAlive);
  notify_group(worker, group, 1);
}

void shed_ancestors_above(Worker* worker, Task* task) {
  // The strict scheduling constraint asks for ancestors, and a tool may.
  if (options().strict_constraint || tool::present()) [[unlikely]] {
    return;
  }
  if (worker->reports.parent == task->parent) flush_reports(worker);  // the parent may be waiting for nothing else
  shed_ended_ancestors(worker, task);
}

// Completes a task with children. They keep its descriptor, and it keeps its parent's, until the last of them has
// ended.
void complete_inner(Worker* worker, Task* task) {
  using namespace children_word;
  release_held(worker, task);
  Task* parent = task->parent;
  if (!task->has(task_flag::kPersistent)) notify_group(worker, task->taskgroup, 1);
  // The completion is reported first: the parent cannot go away before the end of the subtree is reported, too.
  report_parent(worker, parent, kIncomplete);
  // The parent has ended, or is at a barrier. If it ends later than this, a task below removes it.
  if ((parent->children.load(relaxed) & kWaitingForSubtree) != 0) [[unlikely]] {
    shed_ancestors_above(worker, task);
  }
  uint64_t added = task->created * kLeaf + kWaitingForSubtree;
  uint64_t now = task->children.fetch_add(added, acq_rel) + added;
  if (alive(now) == 0) end_subtree(worker, task);
}

// A successor with an affinity runs next on this worker only if its data lies in the worker's domain. Returns it, or
// null if it has been queued.
[[gnu::noinline]] Task* leave_to_its_domain(Worker* worker, Task* next) {
  if (!belongs_elsewhere(worker, next)) return next;
  enqueue(worker, next);
  return nullptr;
}

}  // namespace

bool subtree_has_ended(const Task* task) {
  return children_word::alive(task->children.load(acquire) + task->created * children_word::kLeaf) == 0;
}

uint32_t incomplete_children(const Task* task) {
  // acquire pairs with report_parent: a zero makes the children's effects visible.
  return children_word::incomplete(task->children.load(acquire) + task->created * children_word::kLeaf);
}

void count_in_creator(const Task* task) {
  Task* creator = task->parent;
  ++creator->created;
  Taskgroup* group = creator->taskgroup;  // the task itself may have opened another one by now
  if (group == nullptr) return;
  if (group->owner == creator) {
    ++group->created;
  } else {
    group->count.fetch_add(Taskgroup::kOne, relaxed);  // the creator is counted there: the group has not ended
  }
}

void flush_reports(Worker* worker) {
  if (worker->reports.count == 0) return;
  uint64_t count = worker->reports.count;
  worker->reports.count = 0;
  Task* parent = worker->reports.parent;
  worker->reports.parent = nullptr;
  notify_group(worker, worker->reports.group, static_cast<int64_t>(count));
  report_parent(worker, parent, count * children_word::kLeaf);
}

Task* complete_task(Worker* worker, Task* task) {
  if (worker->reports.parent == task) flush_reports(worker);
  Task* next = nullptr;
  if (task->has(task_flag::kGraph)) {
    next = release_successors(worker, task);
    if (next != nullptr && !may_start(worker, next)) [[unlikely]] {
      defer(next);
      next = nullptr;
    } else if (next != nullptr && priorities_in_use() && is_overtaken(worker, next)) [[unlikely]] {
      enqueue(worker, next);
      next = nullptr;
    } else if (next != nullptr && next->domain() >= 0) [[unlikely]] {
      next = leave_to_its_domain(worker, next);
    }
  }
  bool leaf = has_no_children(task);
  if (task->table != nullptr && (leaf || !shares_own_table(task))) drop_table(worker, task);
  if (leaf) {
    Task* parent = task->parent;
    Taskgroup* group = task->taskgroup;
    release_task(worker, task);
    report(worker, parent, group);
  } else {
    complete_inner(worker, task);
  }
  return next;
}

void complete_at_once(Worker* worker, Task* task) {
  Task* next = task->has(task_flag::kGraph) ? release_successors_rarely(worker, task) : nullptr;
  if (next != nullptr) enqueue(worker, next);
  Task* parent = task->parent;
  Taskgroup* group = task->taskgroup;
  release_task(worker, task);
  notify_group(worker, group, 1);
  report_parent(worker, parent, children_word::kLeaf);
}

}  // namespace marline
