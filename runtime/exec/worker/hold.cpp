// SPDX-License-Identifier: Apache-2.0
//
// Takes and releases the holds of tasks.
#include "exec/worker/hold.hpp"

#include "exec/team/barrier.hpp"
#include "exec/worker/suspend.hpp"
#include "sched/queue.hpp"
#include "tool/tool.hpp"

namespace marline {

namespace {

constexpr int32_t kBody = 1;
constexpr uintptr_t kOfImplicitTask = 1;  // in a Hold*, which is the task's address otherwise

Hold* as_hold(Task* task, uintptr_t kind) { return reinterpret_cast<Hold*>(reinterpret_cast<uintptr_t>(task) | kind); }

// acq_rel: what was done before each release is visible to the thread that continues the completion.
bool give_up_one(Task* task) { return task->predecessors.fetch_sub(1, acq_rel) == 1; }

void release_implicit(Task* task) {
  using namespace children_word;
  uint64_t now = task->children.fetch_sub(kAlive, acq_rel) - kAlive;  // as report_parent in exec/worker/completion.cpp
  if ((now & kWaitingForSubtree) != 0 && alive(now) == 0) barrier_arrive(static_cast<Member*>(task->block));
}

// At the end of the body the tool was told that the task is detached (exec/worker/run_task.cpp): both sides hold the
// lock. For a task with a detach clause, the event reports the end.
[[gnu::noinline]] bool give_up_one_announced(Task* task) {
  Guard<SpinLock> guard(g_detach_lock);
  // acquire: the body has ended if this is the last one, and its flags are visible.
  if (task->predecessors.load(acquire) == 1 && !task->has(task_flag::kDetach | task_flag::kUndeferred)) {
    tool::task_schedule(&task->tool_data, tool::TaskStatus::kLateFulfill, nullptr);
  }
  return give_up_one(task);
}

void publish_to_holds(Task* task, void*) {
  if (give_up_one(task)) enqueue(this_worker(), task);
}

}  // namespace

Hold* hold_current_task() {
  Worker* worker = this_worker_or_null();
  if (worker == nullptr || worker->task == nullptr || worker->context.in_hook || worker->context.called_back)
    return nullptr;
  Task* task = worker->task;
  if (task->has(task_flag::kImplicit)) {
    if (task->team->level == 0) return nullptr;
    task->children.fetch_add(children_word::kAlive, relaxed);  // the next barrier checks the count (children_word)
    return as_hold(task, kOfImplicitTask);
  }
  if (task->has(task_flag::kHolds)) {
    task->predecessors.fetch_add(1, relaxed);  // the body's own hold is still there
  } else {
    task->flags |= task_flag::kHolds;
    task->predecessors.store(kBody + 1, relaxed);  // no other thread knows of the hold before this returns
  }
  return as_hold(task, 0);
}

Hold* hold_of(Task* task) { return as_hold(task, 0); }

void release_hold(Worker* worker, Hold* hold) {
  auto word = reinterpret_cast<uintptr_t>(hold);
  auto* task = reinterpret_cast<Task*>(word & ~kOfImplicitTask);
  if ((word & kOfImplicitTask) != 0) return release_implicit(task);
  bool last = tool::on(tool::event::kTaskSchedule) ? give_up_one_announced(task) : give_up_one(task);
  if (!last) return;
  task->flags &= ~task_flag::kHolds;
  enqueue(worker, task);
}

bool has_holds_left(const Task* task) { return task->predecessors.load(relaxed) > kBody; }

bool leave_to_holds(Task* task) {
  task->flags |= task_flag::kBodyDone;
  if (!give_up_one(task)) return true;
  task->flags &= ~task_flag::kHolds;
  return false;
}

void wait_for_holds(Task* task) {
  // acquire pairs with the releases.
  if (task->predecessors.load(acquire) != kBody) {
    suspend_task(publish_to_holds, nullptr, {WaitKind::kDetach, task, nullptr});
  }
  task->flags &= ~task_flag::kHolds;
}

}  // namespace marline
