// SPDX-License-Identifier: Apache-2.0
//
// Runs the bodies of tasks. Any worker. Between the call and the end of a body the thread may change.
#include "exec/worker/run_task.hpp"

#include "base/check.hpp"
#include "base/sanitizer.hpp"
#include "exec/fiber/fiber.hpp"
#include "exec/worker/announce.hpp"
#include "exec/worker/cancellation.hpp"
#include "exec/worker/completion.hpp"
#include "exec/worker/frames.hpp"
#include "exec/worker/hold.hpp"
#include "sched/held.hpp"
#include "sched/progress.hpp"
#include "sched/queue.hpp"
#include "tool/tool.hpp"

namespace marline {

namespace {

// Called before a task runs or ends: flushes the reports that are kept back, unless they are for the same parent and
// group.
void flush_other_reports(Worker* worker, const Task* task) {
  if (worker->reports.parent != task->parent || worker->reports.group != task->taskgroup) flush_reports(worker);
}

// Tells tools how a body ended and to which task the thread goes back.
[[gnu::noinline]] void announce_end(Worker* worker, Task* task, Task* previous, tool::TaskStatus status) {
  Task* next = previous != nullptr ? previous : shown_task(worker);
  if (task->tied()) tsan_release(worker);
  // Pairs with the wait for a persistent graph's iteration, which no event announces
  // (construct/task/persistent_steps.cpp).
  if (task->taskgroup != nullptr && !task->taskgroup->is_construct) tsan_release(task->taskgroup);
  if (task->has(task_flag::kLeft) && status == tool::TaskStatus::kComplete) status = tool::TaskStatus::kCancel;
  tool::task_schedule(&task->tool_data, status, &next->tool_data);
}

[[gnu::noinline]] void announce_start(Worker* worker, Task* task, Task* previous) {
  tool_tail(task)->beneath = previous;
  Task* prior = previous != nullptr ? previous : shown_task(worker);
  if (task->tied()) tsan_acquire(worker);
  bool yields = worker->tool_view.yields && prior->has(task_flag::kImplicit);
  worker->tool_view.yields = false;
  if (!tool::on(tool::event::kTaskSchedule)) return;
  tool::task_schedule(&prior->tool_data, yields ? tool::TaskStatus::kYield : tool::TaskStatus::kSwitch,
                      &task->tool_data);
}

// The body of a task with kDetach has ended. True: its event is pending, and the thread that fulfils it completes the
// task.
[[gnu::noinline]] bool leave_to_event(Worker* worker, Task* task, Task* previous) {
  release_held(worker, task);
  if (tool::on(tool::event::kTaskSchedule)) [[unlikely]] {
    // The tool gets "detach" only if the fulfilment comes later, and gets it before the fulfilment: both sides hold the
    // lock (sched/queue.cpp, fulfil_for_program).
    Guard<SpinLock> guard(g_detach_lock);
    bool fulfilled = task->event.is_fulfilled();
    announce_end(worker, task, previous, fulfilled ? tool::TaskStatus::kComplete : tool::TaskStatus::kDetach);
    return !fulfilled && task->event.transition_to_waiting(WaiterKind::kCompletion, task);
  }
  return task->event.transition_to_waiting(WaiterKind::kCompletion, task);
}

// The body of a task with kHolds and no event has ended. True: the thread that releases the last hold completes the
// task.
[[gnu::noinline]] bool leave_to_holders(Worker* worker, Task* task, Task* previous) {
  release_held(worker, task);
  if (!tool::on(tool::event::kTaskSchedule)) [[likely]] {
    return leave_to_holds(task);
  }
  // As for an event: the tool gets "detach" only if the last release comes later, and before it (exec/worker/hold.cpp).
  Guard<SpinLock> guard(g_detach_lock);
  announce_end(worker, task, previous, has_holds_left(task) ? tool::TaskStatus::kDetach : tool::TaskStatus::kComplete);
  return leave_to_holds(task);
}

// Makes `task` the worker's current task. Returns the previous one.
[[gnu::always_inline]] inline Task* begin_body(Worker* worker, Task* task, Fiber* fiber) {
  if (worker->reports.count != 0) flush_other_reports(worker, task);
  Task* previous = worker->task;
  if (tool::present()) [[unlikely]] {
    announce_start(worker, task, previous);
  }
  fence_signal();
  worker->task = task;
  fiber->tied_frames += task->tied() ? 1 : 0;
  return previous;
}

// A body ends on the fiber that it began on, maybe on another thread; it may have been pinned in between. Hooks are
// polled while the task is still the current one: for tools it is until announce_end.
[[gnu::always_inline]] inline void end_body(Worker* worker, Task* task, Fiber* fiber, Task* previous) {
  fiber->tied_frames -= task->tied() ? 1 : 0;
  progress_at_scheduling_point(worker);
  worker->task = previous;
  fence_signal();  // before the descriptor is given back
}

[[gnu::noinline]] Task* complete_body(Worker* worker, Task* task, Task* previous) {
  if (task->has(task_flag::kDetach)) {
    task->flags |= task_flag::kBodyDone;
    if (leave_to_event(worker, task, previous)) return nullptr;
    if (task->has(task_flag::kHolds) && leave_to_holds(task)) return nullptr;
  } else if (task->has(task_flag::kHolds)) {
    if (leave_to_holders(worker, task, previous)) return nullptr;
  } else if (tool::on(tool::event::kTaskSchedule)) [[unlikely]] {
    announce_end(worker, task, previous, tool::TaskStatus::kComplete);
  }
  return complete_task(worker, task);
}

// Whether the task's end need be reported to its parent and taskgroup only, and nothing else uses its descriptor.
[[gnu::always_inline]] inline bool ends_alone(const Task* task) {
  constexpr uint32_t kMore = task_flag::kDetach | task_flag::kGraph | task_flag::kInTable | task_flag::kOwnIcvs |
                             task_flag::kPersistent | task_flag::kReplayed | task_flag::kHolds;
  return !task->has(kMore) && task->table == nullptr && has_no_children(task) && !tool::on(tool::event::kTaskSchedule);
}

// Takes back what the creation of a task added to counts that only its parent's thread uses, which is this thread. Not
// if the parent would then check its limits at each creation (exec/worker/throttle.hpp).
bool uncount_child(const Worker* worker, Task* parent, Taskgroup* group) {
  if ((~(parent->created - 1) & worker->throttling.mask) == 0) [[unlikely]] {
    return false;
  }
  if (group != nullptr) {
    if (group->owner != parent) return false;
    --group->created;
  }
  --parent->created;
  return true;
}

// The task ends alone, and its creator, which waits in place, has not changed its counts since it counted this child.
[[gnu::always_inline]] inline void end_before_creator(Worker* worker, Task* task) {
  Task* parent = task->parent;
  Taskgroup* group = task->taskgroup;
  SlabPool::release(task, worker->pool);
  if (!uncount_child(worker, parent, group)) report(worker, parent, group);
}

}  // namespace

Task* complete_undeferred(Worker* worker, Task* task) {
  if (!ends_alone(task)) return complete_task(worker, task);
  end_before_creator(worker, task);
  return nullptr;
}

Task* complete_detached(Worker* worker, Task* task) {
  task->flags |= task_flag::kBodyDone;
  if (leave_to_event(worker, task, worker->task)) return nullptr;
  return complete_task(worker, task);
}

namespace {

// Whether tools can be told that the worker switches to a task and back.
bool has_view(const Worker* worker) {
  return worker != nullptr && worker->fiber != nullptr && worker->memberships != nullptr;
}

[[gnu::noinline]] void announce_visit(Worker* worker, Task* task, tool::TaskStatus how_it_is_left) {
  Task* around = worker->task != nullptr ? worker->task : shown_task(worker);
  tool::task_schedule(&around->tool_data, tool::TaskStatus::kSwitch, &task->tool_data);
  tool::task_schedule(&task->tool_data, how_it_is_left, &around->tool_data);
}

// If the thread is unknown to tools, the end is reported as if the task had been detached.
[[gnu::noinline]] void announce_claimed_end(Worker* worker, Task* task) {
  if (task->has(task_flag::kBodyDone) || !has_view(worker)) {
    return tool::task_schedule(&task->tool_data, tool::TaskStatus::kLateFulfill, nullptr);
  }
  if (is_cancelled(task)) return announce_discard(worker, task);
  announce_visit(worker, task, tool::TaskStatus::kComplete);
}

void refuse_before_ready(const Task* task, const char* routine) {
  // acquire pairs with count_down: successors of the task may read what its predecessors wrote.
  if (!task->has(task_flag::kGraph) || task->predecessors.load(acquire) == 0) [[likely]] {
    return;
  }
  fatal("%s: a target task was ended before its predecessors had completed; call it after `ready`", routine);
}

}  // namespace

// Does not report a task with objects that a thread destroys, because that thread reports it, nor a cancelled task,
// because that is reported as cancelled.
void detach_claimed(Worker* worker, Task* task) {
  refuse_before_ready(task, "marline_claimed_detach");
  if (!tool::on(tool::event::kTaskSchedule)) return;
  if (task->has(task_flag::kDestroys) || is_cancelled(task) || !has_view(worker)) return;
  task->flags |= task_flag::kBodyDone;  // as in end_claimed
  announce_visit(worker, task, tool::TaskStatus::kDetach);
}

// The task keeps kClaimed, so that its end is reported to the library.
void run_claimed(Worker* worker, Task* task) {
  refuse_before_ready(task, "marline_claimed_run");
  task->home = nullptr;
  enqueue(worker, task);
}

void end_claimed(Worker* worker, Task* task) {
  refuse_before_ready(task, "marline_claimed_end");
  if (task->has(task_flag::kDestroys)) {
    // No other thread of the runtime acts on the flags any more.
    task->flags = (task->flags & ~task_flag::kClaimed) | task_flag::kDiscarded;
    return enqueue(worker, task);
  }
  if (tool::on(tool::event::kTaskSchedule)) [[unlikely]] {
    announce_claimed_end(worker, task);
  }
  complete_at_once(worker, task);
}

namespace {

template <bool measured>
[[gnu::always_inline]] inline Task* run_from_queue(Task* task) {
  Worker* worker = this_worker();
  if (task->has(task_flag::kBodyDone)) {
    flush_other_reports(worker, task);
    if (task->has(task_flag::kHolds) && leave_to_holds(task)) return nullptr;  // its event came first
    return complete_task(worker, task);
  }
  if (is_cancelled(task)) [[unlikely]] {
    return discard_task(worker, task);
  }
  Fiber* fiber = worker->fiber;
  Task* previous = begin_body(worker, task, fiber);
  if (measured) worker->thief.body_begins();
  task->invoke(task);
  worker = this_worker();
  if (measured) worker->thief.body_ends();
  end_body(worker, task, fiber, previous);
  if (!ends_alone(task)) return complete_body(worker, task, previous);
  Task* parent = task->parent;
  Taskgroup* group = task->taskgroup;
  SlabPool::release(task, worker->pool);
  report(worker, parent, group);
  return nullptr;
}

}  // namespace

Task* run_task(Task* task) { return run_from_queue<false>(task); }

Task* run_measured(Task* task) { return run_from_queue<true>(task); }

Task* run_created(Worker* worker, Task* task, Fiber* fiber) {
  if (is_cancelled(task)) [[unlikely]] {
    return discard_task(worker, task);
  }
  Task* previous = begin_body(worker, task, fiber);
  task->invoke(task);
  // A task that has blocked does not go back to its creator.
  if (!fiber->called) [[unlikely]] {
    worker = this_worker();
    end_body(worker, task, fiber, nullptr);
    return complete_body(worker, task, nullptr);
  }
  end_body(worker, task, fiber, previous);
  if (!ends_alone(task)) return complete_body(worker, task, previous);
  end_before_creator(worker, task);
  return nullptr;
}

Task* complete_called(Worker* worker, Task* task, Fiber* fiber) {
  if (fiber == nullptr) return complete_body(worker, task, worker->task);
  end_body(worker, task, fiber, nullptr);
  return complete_body(worker, task, nullptr);
}

void complete_uncounted(Worker* worker, Task* task) {
  count_in_creator(task);
  if (Task* next = complete_called(worker, task, nullptr)) enqueue(worker, next);
}

}  // namespace marline
