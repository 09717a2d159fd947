// SPDX-License-Identifier: Apache-2.0
//
// While the newest task of the worker's own deque is one of the awaited tasks, the worker runs it here, on top of the
// waiting frame, which cannot continue before that task anyway. So recursion needs no fiber. Otherwise the waiting task
// is suspended, and the worker that completes the last child makes it ready.
#include "construct/task/awaited.hpp"

#include "config/options.hpp"
#include "exec/fiber/fiber.hpp"
#include "exec/worker/cancellation.hpp"
#include "exec/worker/completion.hpp"
#include "exec/worker/run_task.hpp"
#include "exec/worker/suspend.hpp"
#include "sched/constraint.hpp"
#include "sched/held.hpp"
#include "sched/pool_tasks.hpp"
#include "sched/queue.hpp"
#include "tool/target_observer.hpp"

namespace marline {

namespace {

// A frame is stacked only while at least this part of the stack is left for the program's own frames.
constexpr size_t kReservedFraction = 4;

// What the task waits for: its children (group null), or the members of a group.
struct Awaited {
  Task* task;
  Taskgroup* group;

  bool includes(const Task* other) const {
    return group != nullptr ? other->taskgroup == group : other->parent == task;
  }
};

bool may_lie_over(const Fiber* fiber, const Task* task) {
  return (task->tied() || fiber->tied_frames == 0) && stack_left(fiber) > fiber->stack.size() / kReservedFraction;
}

// Runs one awaited task. A successor that it makes ready is run here if it is awaited, too (siblings); otherwise it is
// queued.
[[gnu::always_inline]] inline void run_awaited(const Awaited& awaited, Task* task) {
  while (task != nullptr) {
    Worker* worker = this_worker();
    if (task->fiber != nullptr || !may_lie_over(worker->fiber, task)) {
      run_over_frame(worker, worker->member, task);
      return;
    }
    task = run_task(task);
    if (task != nullptr && !awaited.includes(task)) {
      enqueue(this_worker(), task);
      return;
    }
  }
}

void run_awaited_tasks_here(const Awaited& awaited) {
  if (options().schedule.policy != SchedulePolicy::kLifo) return;
  for (;;) {
    Worker* worker = this_worker();
    Member* member = worker->member;
    Task* task = pop_own(member);
    if (task == nullptr) return;
    if (!awaited.includes(task) || !may_start(worker, task) ||
        stack_left(worker->fiber) < worker->fiber->stack.size() / kReservedFraction) {
      give_back(member, task);
      return;
    }
    run_awaited(awaited, task);
  }
}

// The same for tasks that threads outside the team may run, too (sched/pool_tasks.hpp).
[[gnu::noinline]] void run_awaited_pool_tasks_here(const Awaited& awaited) {
  auto wanted = [](const Task* task, const void* by) { return static_cast<const Awaited*>(by)->includes(task); };
  for (;;) {
    Worker* worker = this_worker();
    if (stack_left(worker->fiber) < worker->fiber->stack.size() / kReservedFraction) break;
    Task* task = take_pool_task(worker, worker->member->team, wanted, &awaited);
    if (task == nullptr) break;
    run_awaited(awaited, task);
  }
  flush_reports(this_worker());
}

// Called once the task is suspended: settles the count and sets the flag with which the last completion wakes the task
// (task/task.hpp).
void publish_taskwait(Task* task, void*) {
  using namespace children_word;
  uint64_t added = task->created * kLeaf + kWaitingForChildren;
  task->created = 0;
  uint64_t now = task->children.fetch_add(added, acq_rel) + added;
  if (incomplete(now) == 0) enqueue(this_worker(), task);
}

void publish_taskgroup(Task* task, void* context) {
  auto* group = static_cast<Taskgroup*>(context);
  int64_t added = group->created * Taskgroup::kOne + Taskgroup::kWaiting;
  group->created = 0;
  int64_t now = group->count.fetch_add(added, acq_rel) + added;
  if (now == Taskgroup::kWaiting) enqueue(this_worker(), task);
}

int64_t unfinished(const Taskgroup* group) {
  // acquire pairs with the completions' subtraction: a count of zero makes their effects visible.
  return group->count.load(acquire) + group->created * Taskgroup::kOne;
}

}  // namespace

void wait_for_children(Task* task) {
  tool::report_wait(MARLINE_WAIT_TASKWAIT);
  release_held(this_worker(), task);
  run_awaited_tasks_here({task, nullptr});
  flush_reports(this_worker());
  if (incomplete_children(task) == 0) return;
  if (pool_in_use()) [[unlikely]] {
    run_awaited_pool_tasks_here({task, nullptr});
    if (incomplete_children(task) == 0) return;
  }
  announce_wait(ompt::State::kWaitTaskwait);
  suspend_task(publish_taskwait, nullptr, {WaitKind::kTaskwait, task, nullptr});
  task->children.fetch_and(~children_word::kWaitingForChildren, relaxed);
}

void wait_for_group(Task* task, Taskgroup* group) {
  tool::report_wait(MARLINE_WAIT_TASKGROUP);
  release_held(this_worker(), task);
  run_awaited_tasks_here({task, group});
  flush_reports(this_worker());
  if (unfinished(group) == 0) return;
  if (pool_in_use()) [[unlikely]] {
    run_awaited_pool_tasks_here({task, group});
    if (unfinished(group) == 0) return;
  }
  announce_wait(ompt::State::kWaitTaskgroup);
  suspend_task(publish_taskgroup, group, {WaitKind::kTaskgroup, group, nullptr});
}

void taskgroup_init(Taskgroup* group, Task* owner, Taskgroup* outer, bool is_construct) {
  group->outer = outer;
  group->owner = owner;
  group->count.store(0, relaxed);
  group->created = 0;
  group->reductions = nullptr;
  begin_order(group, is_construct);
}

void taskgroup_wait(Task* owner, Taskgroup* group) {
  wait_for_group(owner, group);
  end_order(this_worker(), group);
}

}  // namespace marline
