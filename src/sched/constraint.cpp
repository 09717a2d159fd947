// SPDX-License-Identifier: Apache-2.0
//
// The task scheduling constraint: see the header. Strict mode is for programs that rely on the constraint (a tied task
// that holds a lock over a task scheduling point), so it is kept simple: each question walks the list of suspended
// tasks.
#include "sched/constraint.hpp"

#include "sched/idle.hpp"

namespace marline {

namespace {

// The ancestors' descriptors live as long as the task's (task/task.hpp).
bool descends_from(const Task* task, const Task* ancestor) {
  while (task != nullptr && task != ancestor) task = task->parent;
  return task != nullptr;
}

}  // namespace

void TiedSuspension::enter(Worker* worker, Task* task) {
  worker_ = worker;
  task_ = task;
  next_ = worker->suspended_tied;
  if (next_ != nullptr) next_->previous_ = this;
  worker->suspended_tied = this;
}

void TiedSuspension::leave() {
  if (next_ != nullptr) next_->previous_ = previous_;
  (previous_ != nullptr ? previous_->next_ : worker_->suspended_tied) = next_;
}

bool allowed_by_constraint(const Worker* worker, const Task* task) {
  using namespace task_flag;
  if (task->fiber != nullptr || !task->has(kTied) || task->has(kEmpty | kBodyDone)) return true;
  for (const TiedSuspension* s = worker->suspended_tied; s != nullptr; s = s->next()) {
    if (!descends_from(task, s->task())) return false;
  }
  for (const Member* m = worker->memberships; m != nullptr; m = m->next_membership) {
    const Task* opener = m->index == 0 ? m->team->parent_task : nullptr;
    if (opener != nullptr && opener->has(kTied) && !descends_from(task, opener)) return false;
  }
  return true;
}

namespace {

// An undeferred task in the list stands for its creator, which is suspended until the task may start.
bool may_take(const Worker* worker, const Task* entry) {
  if (!allowed_by_constraint(worker, entry)) return false;
  const Worker* home = entry->has(task_flag::kUndeferred) ? entry->parent->home : nullptr;
  return home == nullptr || home == worker;
}

}  // namespace

void defer(Task* task) {
  Team* team = task->team;
  {
    Guard<SpinLock> guard(team->deferred_lock);
    team->deferred.push_back(task);
    team->deferred_count.fetch_add(1, seq_cst);  // before the look at the sleepers (sched/idle.hpp)
  }
  wake_all(team);  // one would not do: it may be another one that must not start the task
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
  if (task == nullptr) return nullptr;
  team->deferred_count.fetch_sub(1, relaxed);
  return task->has(task_flag::kUndeferred) ? task->parent : task;
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
