// SPDX-License-Identifier: Apache-2.0
//
// Suspending the current task. The fiber stays with the task; the worker continues
//   1. on the fiber's caller, if one waits in place for this task to end or block;
//   2. else on a spare fiber, in the scheduling loop.
// In both cases the worker first runs the publication there: by then the task's context is saved, so other workers may
// resume the task.
#include "exec/worker/suspend.hpp"

#include "base/check.hpp"
#include "base/futex.hpp"
#include "base/sanitizer.hpp"
#include "exec/fiber/fiber.hpp"
#include "exec/view/inspect.hpp"
#include "exec/worker/announce.hpp"
#include "exec/worker/blocked.hpp"
#include "exec/worker/completion.hpp"
#include "exec/worker/frames.hpp"
#include "exec/worker/pieces.hpp"
#include "sched/constraint.hpp"
#include "sched/held.hpp"
#include "sched/library_call.hpp"
#include "sched/progress.hpp"
#include "sched/queue.hpp"
#include "tool/tool.hpp"

namespace marline {

namespace {

struct Publication {
  void (*publish)(Task*, void*);
  Task* task;
  void* context;
};

// Runs on the fiber that the worker went to. The record lies on the suspended stack: read it before publishing.
void run_publication(void* argument) {
  Publication p = *static_cast<Publication*>(argument);
  p.publish(p.task, p.context);
}

void publish_to_event(Task* task, void* context) {
  auto* event = static_cast<Event*>(context);
  if (!event->transition_to_waiting(WaiterKind::kTask, task)) enqueue(this_worker(), task);
}

void publish_yield(Task* task, void* context) { enqueue_yielded(this_worker(), static_cast<Member*>(context), task); }

constexpr WaitReason kYields{WaitKind::kYield, nullptr, nullptr};

void sleep_until_fulfilled(Event* event, const marline_wait* call) {
  alignas(8) Atomic<uint32_t> word{0};  // the event keeps the kind of waiter in the address's low bits
  if (!event->transition_to_waiting(WaiterKind::kThread, &word)) return;
  if (call != nullptr) block_begin(call);
  while (word.load(acquire) == 0) futex_wait(word, 0);  // pairs with fulfil
  if (call != nullptr) block_end();
}

void announce(Task* from, tool::TaskStatus status, Task* to) {
  // While an implicit task is suspended, it stands for its thread in the events: no change of task is reported then.
  if (from == to || !tool::on(tool::event::kTaskSchedule)) return;
  tool::task_schedule(&from->tool_data, status, &to->tool_data);
}

void suspend(void (*publish)(Task*, void*), void* context, tool::TaskStatus status, const WaitReason& why) {
  Worker* worker = this_worker();
  Task* task = worker->task;
  if (tool::on(tool::event::kSuspend)) tool::suspending();
  Fiber* fiber = worker->fiber;
  Publication publication{publish, task, context};
  flush_reports(worker);
  release_held(worker, nullptr);
  leave_pieces_of(worker);
  ++worker->shown_state.suspensions;
  fiber->waits_for = &why;
  task->fiber = fiber;
  task->home = fiber->tied_frames > 0 ? worker : nullptr;
  Fiber* target = fiber->caller;
  if (target != nullptr) {
    if (fiber->uncounted != nullptr) {  // from now on its creator may go on before it
      count_in_creator(fiber->uncounted);
      if (fiber->stub == fiber->uncounted) fiber->stub = nullptr;
      fiber->uncounted = nullptr;
    }
    fiber->caller = nullptr;
    fiber->called = false;
    fiber->depth = 0;
  } else {
    target = fiber_take(worker);
    target->fp_given = true;
    target->fp = worker->member->team->fp_control;  // not the values that the suspended task has set
  }
  Task* other = target->task != nullptr ? target->task : &worker->memberships->implicit_task;
  announce(task, status, other);
  fiber_switch(target, run_publication, &publication);
  worker = this_worker();
  announce(shown_task(worker), tool::TaskStatus::kSwitch, task);
}

// While an implicit task is suspended, it stands for its thread in the events. So the start of the next task reports
// that this one has yielded.
[[gnu::noinline]] void yield_reporting(Worker* worker) {
  Task* task = worker->task;
  worker->tool_view.yields = task->has(task_flag::kImplicit);
  set_enter_frame(frame_of(task), in_callers_frame());
  suspend(publish_yield, worker->member, tool::TaskStatus::kYield, kYields);
  set_enter_frame(frame_of(task), nullptr);
  this_worker()->tool_view.yields = false;
}

}  // namespace

void suspend_task(void (*publish)(Task*, void*), void* context, const WaitReason& why) {
  suspend(publish, context, tool::TaskStatus::kSwitch, why);
}

Worker* pin_current_task(Worker* worker) {
  Task* task = worker->task;
  if (task->tied()) {
    if (!task->has(task_flag::kImplicit)) task->flags |= task_flag::kPinned;
    return worker;
  }
  worker = wait_until_child_may_start(worker);  // where a tied child may start, this task may become tied
  task->flags |= task_flag::kPinned;
  ++worker->fiber->tied_frames;  // taken back where the body ends, for every task that is tied by then
  return worker;
}

Worker* wait_for_permission(Worker* worker) {
  while (!may_start_child(worker, worker->task)) {
    suspend_task([](Task* task, void*) { defer(task); }, nullptr, {WaitKind::kPermission, nullptr, nullptr});
    worker = this_worker();
  }
  return worker;
}

bool can_suspend() {
  Worker* worker = this_worker_or_null();
  if (worker == nullptr || worker->task == nullptr || worker->context.in_hook || worker->context.keeps_task)
    return false;
  if (worker->context.called_back) return false;
  return !worker->task->has(task_flag::kImplicit) || worker->member->team->level > 0;
}

namespace {

// The event may be one that only a hook fulfils, and no other thread calls hooks meanwhile.
void refuse_in_hook(const Worker* worker) {
  if (worker != nullptr && worker->context.in_hook)
    fatal("a progress hook called marline_event_wait: hooks must not block");
}

void wait_until_fulfilled(Event* event, const WaitReason& why) {
  if (event->is_fulfilled()) return;
  Worker* worker = this_worker_or_null();
  if (worker == nullptr || worker->task == nullptr) {
    if (why.kind == WaitKind::kEvent) refuse_in_hook(acting_worker());
    sleep_until_fulfilled(event, why.call);
    return;
  }
  refuse_in_hook(worker);
  inspect_start();
  suspend(publish_to_event, event, tool::TaskStatus::kSwitch, why);
}

}  // namespace

void wait_event(Event* event, const WaitReason& why) {
  wait_until_fulfilled(event, why);
  tsan_acquire(event);  // what was done before the fulfilment
}

void yield_to_caller() { suspend(publish_yield, this_worker()->member, tool::TaskStatus::kYield, kYields); }

void yield_task() {
  Worker* worker = this_worker();
  progress_at_scheduling_point(worker);
  leave_pieces_of(worker);  // they are other work, too
  // A fiber that waits in place is other work, too: perhaps a generating task that creates what this task waits for.
  if (worker->task == nullptr || (worker->fiber->caller == nullptr && !work_in_sight(worker))) {
    return progress_when_all_yield(worker);
  }
  if (tool::present()) [[unlikely]] {
    return yield_reporting(worker);
  }
  suspend(publish_yield, worker->member, tool::TaskStatus::kYield, kYields);
}

}  // namespace marline
