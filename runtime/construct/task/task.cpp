// SPDX-License-Identifier: Apache-2.0
//
// The task construct: allocates and spawns tasks, and runs undeferred tasks. Run by the thread that runs the generating
// task.
#include "construct/task/task.hpp"

#include "config/options.hpp"
#include "construct/task/next_task.hpp"
#include "construct/task/offers.hpp"
#include "construct/task/persistent_steps.hpp"
#include "construct/task/task_events.hpp"
#include "exec/fiber/fiber.hpp"
#include "exec/team/free_agent.hpp"
#include "exec/worker/cancellation.hpp"
#include "exec/worker/completion.hpp"
#include "exec/worker/run_task.hpp"
#include "exec/worker/frames.hpp"
#include "exec/worker/hold.hpp"
#include "exec/worker/suspend.hpp"
#include "exec/worker/throttle.hpp"
#include "graph/lineage.hpp"
#include "graph/profile.hpp"
#include "sched/constraint.hpp"
#include "sched/held.hpp"
#include "sched/pool_tasks.hpp"
#include "sched/progress.hpp"
#include "sched/queue.hpp"
#include "tool/target_observer.hpp"

namespace marline {

namespace {

[[gnu::noinline]] void report_created(Worker* worker, Task* task, const Dependence* list, size_t count,
                                      const void* codeptr) {
  ompt::Frame* frame = frame_of(worker->task);
  if (frame->enter_frame.ptr == nullptr) set_enter_frame(frame, in_callers_frame());  // otherwise the face has set it
  if (tool::on(tool::event::kTaskCreate)) {
    tool::task_create(&worker->task->tool_data, frame, &task->tool_data, tool_flags(task), count != 0, codeptr,
                      task->name(), task->color());
  }
  if (count != 0) announce_dependences(&task->tool_data, list, count);
}

// Runs tasks that were created too deep to run at once: outside of parallel regions no other thread takes them.
[[gnu::noinline]] void run_what_is_left(Member* member) {
  while (this_worker()->fiber->depth == 0) {
    Task* task = pop_own(member);
    if (task == nullptr) return;
    if (!may_start(this_worker(), task)) {
      give_back(member, task);
      return;
    }
    run_over_frame(this_worker(), member, task);
  }
}

// Computes the task's own priority from the clause's value.
[[gnu::noinline]] void resolve_priority(Task* task, size_t dependences) {
  const Options& o = options();
  int32_t hint = task->priority.load(relaxed);
  int32_t own = hint < 0 ? 0 : hint < o.max_task_priority ? hint : o.max_task_priority;
  if (o.priority.value == PriorityValue::kZero) own = 0;
  if (o.priority.profiles && profile_sends(task, dependences)) own = INT32_MAX;
  if (o.priority.value == PriorityValue::kInf && own > 0) own = INT32_MAX;
  task->priority.store(own, relaxed);
  // seq_cst: the first half of the sleep protocol, together with the task's push (sched/idle.hpp). Stored once.
  if ((own > 0 || o.priority.propagates) && !priorities_in_use())
    g_conditions.fetch_or(condition::kPriorities, seq_cst);
}

// Whether the new task would be the next one that its creator takes from its queues.
bool comes_first(Member* member, const Task* task) {
  if (options().schedule.policy != SchedulePolicy::kLifo || options().strict_constraint || member->shared != nullptr)
    return false;
  int highest = member->urgent->highest();
  return highest < 0 || (task->priority.load(relaxed) > 0 && PriorityQueue::bucket_of(task) >= highest);
}

// Runs a task that the worker has just taken from its own queues. A child of the current task is called, if it has not
// begun.
void run_taken(Worker* worker, Member* member, Task* task) {
  const bool begins = task->fiber == nullptr && !task->has(task_flag::kBodyDone);
  if (begins && task->parent == worker->task && !options().strict_constraint) return run_at_creation(worker, task);
  run_over_frame(worker, member, task);
  flush_reports(this_worker());  // of a task that need not be the current task's child
}

// If enough tasks are queued, runs the most urgent one at once.
[[gnu::noinline]] void run_most_urgent(Worker* worker, Task* task) {
  Member* member = worker->member;
  const int64_t limit = options().max_ready;
  const bool runs_one =
      limit != 0 && worker->fiber->depth < kDeepest && member->urgent->size() + member->deque.size() >= limit;
  if (runs_one && comes_first(member, task)) return run_at_creation(worker, task);
  enqueue_own(member, task);
  if (!runs_one) return;
  Task* first = pop_own(member);
  if (first == nullptr) return;
  if (may_start(worker, first)) {
    run_taken(worker, member, first);
  } else {
    give_back(member, first);
  }
}

// Enough tasks are queued: runs this task, or a more urgent one.
[[gnu::noinline]] void run_now(Worker* worker, Task* task) {
  Member* member = worker->member;
  if (priorities_in_use() && member->team->level != 0) [[unlikely]] {
    return run_most_urgent(worker, task);
  }
  run_at_creation(worker, task);
  if (member->team->level == 0) [[unlikely]] {
    run_what_is_left(member);
  }
}

// The same, if the task scheduling constraint may apply.
[[gnu::noinline]] void run_over_creator(Worker* worker, Task* task) {
  LeftFrames left(worker, worker->fiber->tied_frames);
  run_now(worker, task);
}

// Ends only in tail calls, so that the common paths need no stack frame.
[[gnu::always_inline]] inline void make_run_simply(Worker* worker, Task* task) {
  if (runs_at_once<plenty_in_deque>(worker, task)) return run_now(worker, task);
  enqueue_own(worker->member, task);
}

[[gnu::noinline]] void make_run(Worker* worker, Task* task) {
  const bool urgent = options().priority.on && task->priority.load(relaxed) > 0;
  if (options().simple_creation && !urgent) [[likely]] {
    return make_run_simply(worker, task);
  }
  if (options().discover_first) return hold_back(worker, task);
  if (priorities_in_use() && worker->member->team->level != 0) return run_most_urgent(worker, task);
  if (runs_at_once<plenty_queued>(worker, task) && may_start(worker, task)) return run_over_creator(worker, task);
  enqueue_own(worker->member, task);
}

// An undeferred task starts as soon as the scheduling constraint allows (OpenMP 5.2, section 12.9). Its creator is
// suspended meanwhile; it continues on another thread if it is untied and that thread may start the task sooner.
Worker* wait_until_allowed(Worker* worker, const Task* task) {
  return task->has(task_flag::kTied) ? wait_until_child_may_start(worker) : worker;
}

[[gnu::noinline]] void report_entered(Task* parent, Task* task) {
  tool_tail(task)->beneath = parent;
  if (tool::on(tool::event::kTaskSchedule)) {
    tool::task_schedule(&parent->tool_data, tool::TaskStatus::kSwitch, &task->tool_data);
  }
}

[[gnu::noinline]] void report_left(Task* task, Task* parent) {
  if (tool::on(tool::event::kTaskSchedule)) {
    bool left = task->has(task_flag::kLeft);
    tool::task_schedule(&task->tool_data, left ? tool::TaskStatus::kCancel : tool::TaskStatus::kComplete,
                        &parent->tool_data);
  }
  set_enter_frame(frame_of(parent), nullptr);
}

// The current task is `task` while its body is called in line.
void enter_body(Worker* worker, Task* task) {
  if (tool::present()) [[unlikely]] {
    report_entered(worker->task, task);
  }
  if (worker->task->has(task_flag::kInGraph)) [[unlikely]]
    persistent_note_undeferred(worker->task);
  task->flags |= task_flag::kUndeferred;
  worker->task = task;
  worker->fiber->tied_frames += task->tied() ? 1 : 0;
}

// Whether this detached task holds its creator until it completes, rather than until its block ends. In an iteration of
// a persistent graph, the table has no room for the node that would represent its completion. In a table that producers
// share, the task's descendants would wait for that node.
bool holds_until_completion(const Task* task) {
  return task->parent->has(task_flag::kInGraph | task_flag::kSharesTable) && !has_scope(task->parent);
}

// An undeferred task holds its creator until its structured block has been executed (OpenMP 5.2, section 1.2.5), not
// until the event of its detach clause is fulfilled. Only from then on siblings must be ordered after it.
[[gnu::noinline]] void leave_detached(Worker* worker, Task* task) {
  Task* parent = task->parent;
  if (KeptDependences* kept = task->kept) {
    task->kept = nullptr;  // a persistent descriptor is used again, and keeps its exclusions in the same field
    if (!task->event.is_fulfilled()) enter_completion(worker, task, kept);
    SlabPool::release(kept, worker->pool);
  }
  if (Task* next = complete_detached(worker, task)) enqueue(worker, next);
  if (tool::present()) set_enter_frame(frame_of(parent), nullptr);
}

[[gnu::noinline]] void wait_for_event(Task* task) {
  wait_event(&task->event, {WaitKind::kDetach, &task->event, nullptr});
}

// Whether a function of the program has run the task's code in line. Only while a tool is there.
bool is_in_program(Task* task) { return (frame_of(task)->exit_frame_flags & ompt::kFrameApplication) != 0; }

// Makes the parent of `task` the current task.
[[gnu::always_inline]] inline void step_back(Worker* worker, const Task* task) {
  worker->fiber->tied_frames -= task->tied() ? 1 : 0;
  worker->task = task->parent;
  fence_signal();  // before the descriptor is freed
}

void leave_body(Task* task) {
  if (task->has(task_flag::kHolds)) wait_for_holds(task);
  if (task->has(task_flag::kDetach) && holds_until_completion(task)) [[unlikely]] {
    wait_for_event(task);
  }
  Worker* worker = this_worker();
  if (tool::present()) [[unlikely]] {
    if (is_in_program(task)) tool::debug_task_end();
    step_back(worker, task);
    if (!task->has(task_flag::kDetach)) report_left(task, task->parent);
  } else {
    step_back(worker, task);
  }
  if (task->has(task_flag::kDetach)) [[unlikely]] {
    return leave_detached(worker, task);
  }
  if (Task* next = complete_undeferred(worker, task)) enqueue(worker, next);
}

[[gnu::noinline]] void spawn_announced(Worker* worker, Task* task, const Dependence* list, size_t count,
                                       const void* codeptr) {
  if (const DependObject* object = count == 0 ? take_sole_object(worker) : nullptr) {
    // The object lives until the task is created.
    return spawn_task(worker, task, object->list(), object->count, codeptr);
  }
  NextDependences all(worker, list, count);
  spawn_task(worker, task, all.list(), all.count(), codeptr);
}

[[gnu::noinline]] void run_undeferred_announced(Worker* worker, Task* task, const Dependence* list, size_t count,
                                                const void* codeptr) {
  NextDependences all(worker, list, count);
  run_undeferred(worker, task, all.list(), all.count(), codeptr);
}

[[gnu::noinline]] void wait_for_announced(Worker* worker, const void* codeptr) {
  NextDependences all(worker, nullptr, 0);
  if (all.count() != 0) taskwait_depend(worker, all.list(), all.count(), codeptr);
}

// The task's dependences have been waited for, except the ones that calls have set before.
Worker* introduce_undeferred(Worker* worker, Task* task, const Dependence* list, size_t count, const void* codeptr) {
  if (worker->next_task != nullptr) [[unlikely]] {
    wait_for_announced(worker, codeptr);
  }
  worker = wait_until_allowed(this_worker(), task);
  become_child(worker, task);
  if (task->parent->has(task_flag::kSharesTable)) inherit_table(task);
  task->flags = (task->flags & ~task_flag::kObserved) | task_flag::kUndeferred;  // the observer is not notified of it
  if (tool::present()) [[unlikely]] {
    report_created(worker, task, list, count, codeptr);
  }
  return worker;
}

// False: the task is cancelled, and has ended.
bool enter_unless_cancelled(Worker* worker, Task* task) {
  if (is_cancelled(task)) [[unlikely]] {
    if (Task* next = discard_task(worker, task)) enqueue(this_worker(), next);
    if (tool::present()) set_enter_frame(frame_of(this_worker()->task), nullptr);
    return false;
  }
  enter_body(worker, task);
  return true;
}

}  // namespace

Task* allocate_announced(Worker* worker, TaskShape& shape) {
  bool has_next = worker->next_task != nullptr;
  if (has_next) drop_stale_next_task(worker);  // a replay does not check
  bool in_graph = worker->task->has(task_flag::kInGraph);
  Task* task = in_graph ? allocate_persistent(worker, shape) : allocate_ordinary_task(worker, shape);
  if (has_next) take_next_name(worker, task);
  return task;
}

void spawn_simple(Worker* worker, Task* task, const void* codeptr) {
  if (throttle_is_due(worker) || tool::present() || progress_pending()) [[unlikely]] {
    return spawn_task(worker, task, nullptr, 0, codeptr);
  }
  become_child(worker, task);
  make_run_simply(worker, task);
}

void queue_simple(Worker* worker, Task* task, const void* codeptr) {
  if (throttle_is_due(worker) || tool::present() || progress_pending()) [[unlikely]] {
    return spawn_task(worker, task, nullptr, 0, codeptr);
  }
  become_child(worker, task);
  enqueue_own(worker->member, task);
}

namespace {

// For a task with kObserved. True: nothing is left to do for the creator. A pool task stays one if threads outside the
// team may run it here.
[[gnu::noinline]] bool spawn_specially(Worker* worker, Task* task, const Dependence* list, size_t count,
                                       const void* codeptr) {
  if (!is_pool_task(task)) return report_to_observer(worker, task, list, count, codeptr);
  if (worker->task->has(task_flag::kInGraph) || !agents_may_run(worker, task)) keep_in_team(task);
  return false;
}

// The part of a creation after the events for tools.
[[gnu::noinline]] void spawn(Worker* worker, Task* task, const Dependence* list, size_t count, const void* codeptr) {
  if (worker->task->has(task_flag::kFinal | task_flag::kSharesTable)) [[unlikely]] {
    if (worker->task->has(task_flag::kFinal)) return run_undeferred(worker, task, list, count, codeptr);
    inherit_table(task);
  }
  if (options().priority.on) [[unlikely]] {
    resolve_priority(task, count);
  }
  bool in_graph = worker->task->has(task_flag::kInGraph);
  if (in_graph && task->has(task_flag::kObserved) && renew_persistent(worker, task, list, count, codeptr))
      [[unlikely]] {
    return;
  }
  worker = throttle_before_creation(worker);
  become_child(worker, task);
  progress_at_scheduling_point(worker);
  if (task->has(task_flag::kObserved) && spawn_specially(worker, task, list, count, codeptr)) [[unlikely]] {
    return;
  }
  if (in_graph) [[unlikely]] {
    if (!enter_persistent(worker, task, list, count)) return;
  } else if (count != 0 && !enter_graph(worker, task, list, count)) {
    return;
  }
  if (is_pool_task(task)) [[unlikely]] {
    return offer_to_pool(task);
  }
  make_run(worker, task);
}

[[gnu::noinline]] void spawn_reporting(Worker* worker, Task* task, const Dependence* list, size_t count,
                                       const void* codeptr) {
  Task* parent = worker->task;
  if (parent->has(task_flag::kFinal)) return run_undeferred(worker, task, list, count, codeptr);
  report_created(worker, task, list, count, codeptr);
  const uint64_t tool_data = task->tool_data;
  spawn(worker, task, list, count, codeptr);
  if (tool::on(tool::event::kCreated)) tool::task_created(tool_data);
  set_enter_frame(frame_of(parent), nullptr);
}

}  // namespace

void spawn_task(Worker* worker, Task* task, const Dependence* list, size_t count, const void* codeptr) {
  if (worker->next_task != nullptr) [[unlikely]] {
    return spawn_announced(worker, task, list, count, codeptr);
  }
  if (tool::present()) [[unlikely]] {
    return spawn_reporting(worker, task, list, count, codeptr);
  }
  spawn(worker, task, list, count, codeptr);
}

void spawn_empty_task(Worker* worker, const Dependence* list, size_t count, const void* codeptr) {
  Task* task = allocate_task(worker, empty_shape(count));
  spawn_task(worker, task, list, count, codeptr);
}

void begin_undeferred(Worker* worker, Task* task, const void* codeptr) {
  enter_body(introduce_undeferred(worker, task, nullptr, 0, codeptr), task);
}

bool try_begin_undeferred(Worker* worker, Task* task, const void* codeptr) {
  return enter_unless_cancelled(introduce_undeferred(worker, task, nullptr, 0, codeptr), task);
}

void end_undeferred(Task* task) { leave_body(task); }

void run_undeferred(Worker* worker, Task* task, const Dependence* list, size_t count, const void* codeptr) {
  if (worker->next_task != nullptr) [[unlikely]] {
    return run_undeferred_announced(worker, task, list, count, codeptr);
  }
  if (count != 0) taskwait_depend(worker, list, count, codeptr);
  if (tool::present()) [[unlikely]] {
    note_entry(this_worker()->task);
  }
  if (!enter_unless_cancelled(introduce_undeferred(this_worker(), task, list, count, codeptr), task)) return;
  if (task->has(task_flag::kDetach)) task->kept = keep_dependences(this_worker(), list, count);
  task->invoke(task);
  leave_body(task);
}

void taskyield(Worker*) {
  tool::report_wait(MARLINE_WAIT_FOR_WORK);  // the awaited condition may depend on a claimed task
  yield_task();
}

bool in_final(const Worker* worker) { return worker->task->has(task_flag::kFinal); }

}  // namespace marline
