// SPDX-License-Identifier: Apache-2.0
//
// Reports events of the current task to a tool. Runs on the thread of the task, only if there is a tool.
#include "exec/worker/announce.hpp"

#include "exec/fiber/fiber.hpp"
#include "exec/worker/frames.hpp"

namespace marline {

Task* shown_task(const Worker* worker) {
  const Fiber* caller = worker->fiber->caller;
  if (caller != nullptr && caller->task != nullptr) return caller->task;
  return &worker->memberships->implicit_task;
}

void announce_work_slowly(Worker* worker, tool::Work kind, tool::Endpoint endpoint, uint64_t count,
                          const void* codeptr) {
  // A taskloop may be inside the open construct; a worksharing construct may not.
  if (endpoint == tool::Endpoint::kBegin && kind != tool::Work::kTaskloop) close_open_work(worker);
  tool::work(kind, endpoint, &worker->member->team->tool_data, &worker->task->tool_data, count, codeptr);
}

void announce_work_without_end(Worker* worker, tool::Work kind, const void* codeptr) {
  announce_work_slowly(worker, kind, tool::Endpoint::kBegin, 1, codeptr);
  worker->member->open_work = kind;
  worker->member->open_work_codeptr = codeptr;
}

void close_open_work(Worker* worker) {
  Member* member = worker->member;
  if (member->open_work == tool::Work::kNone || worker->task != &member->implicit_task) return;
  tool::work(member->open_work, tool::Endpoint::kEnd, &member->team->tool_data, &member->implicit_task.tool_data, 1,
             member->open_work_codeptr);
  member->open_work = tool::Work::kNone;
}

TasksOnStack::TasksOnStack(const Worker* worker)
    : worker_(worker),
      fiber_(worker->fiber),
      task_(worker->task),
      member_(worker->member),
      around_(worker->memberships) {}

void TasksOnStack::to(Task* task) {
  task_ = task;
  for (const Member* member = worker_->memberships; member != nullptr; member = member->next_membership) {
    if (member->team != task->team) continue;
    member_ = member;
    return;
  }
}

// A region is enclosed by the task that opened it. That task is on another thread, unless this one is the region's
// thread 0.
void TasksOnStack::outward() {
  if (task_->has(task_flag::kImplicit) && is_around_gone(worker_, member_)) {
    task_ = nullptr;
  } else if (task_->has(task_flag::kImplicit)) {
    if (member_->index != 0) fiber_ = nullptr;
    around_ = member_->next_membership;
    task_ = task_->parent;
    member_ = member_->team->parent_member;
  } else if (Task* beneath = tool_tail(task_)->beneath) {
    to(beneath);
  } else if (fiber_ == nullptr) {
    if (task_->parent->team != task_->team) member_ = member_->team->parent_member;
    task_ = task_->parent;
  } else if (fiber_->caller != nullptr && fiber_->caller->task != nullptr) {
    fiber_ = fiber_->caller;
    to(fiber_->task);
  } else {
    if (around_ == nullptr) {
      task_ = nullptr;
    } else {
      to(&around_->implicit_task);
    }
  }
}

void note_entry(Task* task) { set_enter_frame(frame_of(task), in_callers_frame()); }

void announce_taskloop_chunk(Task* task) {
  if (task->has(task_flag::kImplicit)) return;
  ompt::DispatchChunk& chunk = tool_tail(task)->chunk;
  if (chunk.iterations == 0) return;
  if (tool::on(tool::event::kDispatch)) {
    tool::dispatch_chunk(tool::Dispatch::kTaskloopChunk, &task->team->tool_data, &task->tool_data, chunk.start,
                         chunk.iterations);
  }
  chunk.iterations = 0;  // an untied task may be called once more
}

void announce_error(int severity, const char* message, size_t length, const void* codeptr) {
  this_worker();
  if (tool::on(tool::event::kError)) tool::error(severity, message != nullptr ? message : "", length, codeptr);
}

void begin_wait(Worker* worker, ompt::State state, const void* wait_id) {
  if (worker->fiber->tied_frames == 0) return;
  worker->tool_view.wait = {worker->task, state, reinterpret_cast<uint64_t>(wait_id)};
}

}  // namespace marline
