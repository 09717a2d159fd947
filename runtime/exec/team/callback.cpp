// SPDX-License-Identifier: Apache-2.0
//
// OpenMP in code that a library calls back (sched/library_call.hpp). It runs in an initial task of its own, on a worker
// of its own. Only this thread and the teams of its own regions run the tasks that the callback creates. While it
// waits, no other task runs on this thread, and the thread polls no library: the library that it would poll is below it
// on the stack.
//
// The initial task has the control variables of the task that has called the library, and counts as being in the same
// active regions: regions inside are as wide as they would be there.
//
// The workers are kept in a list, which has as many as there were callbacks at the same time. A worker belongs to the
// thread that has taken it, until the library's call ends there.
#include "sched/library_call.hpp"

#include "base/check.hpp"
#include "base/memory/memory_limit.hpp"
#include "base/spin_lock.hpp"
#include "config/options.hpp"
#include "exec/fiber/fiber.hpp"
#include "exec/team/team.hpp"
#include "exec/team/threadprivate.hpp"
#include "exec/worker/announce.hpp"
#include "exec/worker/completion.hpp"
#include "exec/worker/runtime.hpp"
#include "exec/worker/worker.hpp"
#include "sched/held.hpp"

namespace marline {

namespace {

Worker* g_free = nullptr;  // under the lock

Worker* take_free() {
  Guard<SpinLock> guard(g_callback_workers_lock);
  Worker* worker = g_free;
  if (worker != nullptr) g_free = worker->next;
  return worker;
}

Worker* create() {
  Worker* worker = worker_create();
  if (worker == nullptr) fatal("no memory for OpenMP in a callback%s", AddressSpaceText().c_str());
  worker->pool = SlabPool::acquire();
  worker->shown_state.own_fiber = nullptr;
  return worker;
}

void put_free(Worker* worker) {
  Guard<SpinLock> guard(g_callback_workers_lock);
  worker->next = g_free;
  g_free = worker;
}

// Equal to what the inquiry routines return before the callback has a worker (abi/omp/current.cpp).
Icvs icvs_of(const Worker* caller) {
  return caller->task != nullptr ? *caller->task->icvs : *caller->member->implicit_task.icvs;
}

// Copies the thread's state from the thread's own worker.
void take_over(Worker* worker, Worker* caller) {
  worker->binding = caller->binding;
  worker->threadprivate = caller->threadprivate;
  worker->tool_view.data = caller->tool_view.data;
}

// For a thread that tools do not know: tells them that the thread begins. For them it lasts as long as the callback.
[[gnu::noinline]] void announce_begin(Worker* worker) {
  if (tool::on(tool::event::kThread)) tool::thread_begin(&worker->tool_view.data, true);
  if (!tool::on(tool::event::kImplicitTask)) return;
  tool::implicit_task(tool::Endpoint::kBegin, &worker->member->team->tool_data, &worker->task->tool_data, 1, 1,
                      tool::task_bits::kInitial);
}

// On a thread that tools know, no new thread and no new task is reported: for tools, the callback's tasks are created
// by the task that has called the library.
void begin_task(Worker* worker, Worker* caller) {
  Team* team = team_serial(worker);
  if (caller == nullptr) {
    team_describe_initial(team, initial_icvs());
  } else {
    team_describe_initial(team, icvs_of(caller), caller->member);
    team->active_level = caller->member->team->active_level;
    team->tool_data = caller->member->team->tool_data;
  }
  implicit_task_begin(worker, &team->members[0]);
  if (!tool::present()) return;
  if (caller == nullptr) return announce_begin(worker);
  const Task* around = caller->task != nullptr ? caller->task : shown_task(caller);
  worker->task->tool_data = around->tool_data;
}

bool has_ended(void* task) { return subtree_has_ended(static_cast<Task*>(task)); }

}  // namespace

Worker* begin_callback() {
  runtime_start();
  Worker* caller = library_caller();
  // Noted now, before the thread has a worker: a callback's worker is no root worker, so the thread would not be noted.
  if (caller == nullptr) note_program_thread();
  Worker* worker = take_free();
  if (worker == nullptr) worker = create();
  worker_enter(worker);
  worker->context.called_back = true;
  worker->tool_view.data = 0;
  worker->shown_state.thread = 0;  // `marline ps` shows the thread once
  worker->fiber = fiber_over_stack(worker, caller != nullptr ? caller->fiber->stack : Stack{});
  if (caller != nullptr) take_over(worker, caller);
  begin_task(worker, caller);
  return worker;
}

// Waits for all tasks that the callback has created: the library uses their results next.
void end_callback(Worker* worker) {
  Worker* caller = library_caller();
  Member* member = worker->member;
  release_held(worker, nullptr);
  flush_reports(worker);
  member->at_barrier = AtBarrier::kImplementation;
  member->barrier_epoch = member->team->epoch.load(relaxed);
  work_until(has_ended, worker->task);
  member->at_barrier = AtBarrier::kNot;
  if (caller == nullptr && tool::present()) announce_root_end(worker);
  implicit_task_end(worker, member, nullptr, nullptr);
  team_serial_release(worker, member->team);
  if (caller == nullptr) {
    threadprivate_end_thread(worker);
  } else {
    caller->threadprivate = worker->threadprivate;
  }
  worker->threadprivate = nullptr;
  set_this_worker(nullptr);
  put_free(worker);
}

}  // namespace marline
