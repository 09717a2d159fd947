// SPDX-License-Identifier: Apache-2.0
//
// Checks the task scheduling constraint. Strict mode is for programs that rely on the constraint (a tied task that
// holds a lock over a task scheduling point), so it is kept simple: each check walks the fibers that the worker has
// left, and the deferred tasks of the team.
#include "sched/constraint.hpp"

#include "sched/idle.hpp"

namespace marline {

namespace {

// The ancestors' descriptors live as long as the task's (task/task.hpp). The initial task of a league's team has no
// parent: for it, this returns the implicit task of the team around, which encountered the league (OpenMP 5.2, section
// 10.2).
const Task* parent_of(const Task* task) {
  if (task->parent != nullptr || !task->has(task_flag::kImplicit)) return task->parent;
  const Member* encountering = task->team->parent_member;
  return encountering != nullptr ? &encountering->implicit_task : nullptr;
}

bool is_or_descends_from(const Task* task, const Task* ancestor) {
  while (task != nullptr && task != ancestor) task = parent_of(task);
  return task != nullptr;
}

bool is_within(const Task* task, const Team* team) {
  while (task != nullptr && task->team != team) task = parent_of(task);
  return task != nullptr;
}

// The innermost tied task on the fiber that has `task` on top. An untied task is above a tied one on a fiber only if it
// is undeferred: then it is above its creator (exec/fiber/fiber.hpp).
TiedFrame innermost_tied(const Task* task) {
  while (task != nullptr && !task->tied()) task = task->has(task_flag::kUndeferred) ? task->parent : nullptr;
  if (task == nullptr || !task->has(task_flag::kImplicit)) return {task, nullptr};
  return {task, static_cast<const Member*>(task->block)};
}

// The epoch decides: tasks that are created after the barrier may start before the thread has noticed the barrier's
// end.
bool is_in_barrier(const Member* member) {
  // acquire: a thread that finds such a task sees that the barrier is over. Pairs with release_all
  // (exec/team/barrier.cpp).
  return member->at_barrier != AtBarrier::kNot && member->team->epoch.load(acquire) == member->barrier_epoch;
}

bool lets_start_child(const TiedFrame& tied, const Task* creator) {
  if (tied.task == nullptr) return true;
  if (tied.member != nullptr && is_in_barrier(tied.member)) return is_within(creator, tied.member->team);
  return is_or_descends_from(creator, tied.task);
}

}  // namespace

void LeftFrames::enter(Worker* worker) {
  worker_ = worker;
  innermost_ = innermost_tied(worker->task);
  next_ = worker->left_frames;
  if (next_ != nullptr) next_->previous_ = this;
  worker->left_frames = this;
}

void LeftFrames::leave() {
  if (next_ != nullptr) next_->previous_ = previous_;
  (previous_ != nullptr ? previous_->next_ : worker_->left_frames) = next_;
}

bool may_start_child(const Worker* worker, const Task* creator) {
  if (!lets_start_child(innermost_tied(worker->task), creator)) return false;
  const LeftFrames* left = worker->left_frames;
  while (left != nullptr && lets_start_child(left->innermost(), creator)) left = left->next();
  return left == nullptr;
}

bool allowed_by_constraint(const Worker* worker, const Task* task) {
  using namespace task_flag;
  if (task->fiber != nullptr || !task->has(kTied) || task->has(kEmpty | kBodyDone)) return true;
  return may_start_child(worker, task->parent);
}

namespace {

// A suspended task in the list waits until it may start a child.
bool may_take(const Worker* worker, const Task* entry) {
  if (entry->fiber == nullptr) return allowed_by_constraint(worker, entry);
  return (entry->home == nullptr || entry->home == worker) && may_start_child(worker, entry);
}

}  // namespace

void defer(Task* task) {
  Team* team = task->team;
  {
    Guard<SpinLock> guard(team->deferred_lock);
    team->deferred.push_back(task);
    team->deferred_count.fetch_add(1, seq_cst);  // before the look at the sleepers (sched/idle.hpp)
  }
  wake_all(team);  // waking one member is not enough: it may be one that must not start the task
}

Task* take_deferred(Worker* worker, Member* member) {
  Team* team = member->team;
  if (team->deferred_count.load(seq_cst) == 0) return nullptr;
  Guard<SpinLock> guard(team->deferred_lock);
  TaskFifo passed_over;
  Task* task = team->deferred.pop_front();
  while (task != nullptr && !may_take(worker, task)) {
    passed_over.push_back(task);
    task = team->deferred.pop_front();
  }
  passed_over.append(team->deferred);
  team->deferred = passed_over;
  if (task != nullptr) team->deferred_count.fetch_sub(1, relaxed);
  return task;
}

bool deferred_in_sight(Worker* worker, Member* member) {
  Team* team = member->team;
  if (team->deferred_count.load(seq_cst) == 0) return false;
  Guard<SpinLock> guard(team->deferred_lock);
  for (const Task* task = team->deferred.head; task != nullptr; task = task->next) {
    if (may_take(worker, task)) return true;
  }
  return false;
}

}  // namespace marline
