// SPDX-License-Identifier: Apache-2.0
//
// taskwait and taskgroup: what their regions do besides waiting (construct/task/awaited.hpp).
#include "construct/task/task.hpp"

#include "base/check.hpp"
#include "construct/task/awaited.hpp"
#include "construct/task/persistent_steps.hpp"
#include "construct/task/task_events.hpp"
#include "exec/worker/announce.hpp"
#include "exec/worker/cancellation.hpp"
#include "exec/worker/completion.hpp"
#include "exec/worker/frames.hpp"
#include "exec/worker/suspend.hpp"
#include "sched/progress.hpp"
#include "tool/target_observer.hpp"
#include "tool/tool.hpp"

#include <new>

namespace marline {

namespace {

[[gnu::noinline]] void announce_slowly(tool::SyncRegion kind, tool::Endpoint endpoint, Task* task,
                                       const void* codeptr) {
  if (endpoint == tool::Endpoint::kBegin) {
    set_enter_frame(frame_of(task), in_callers_frame());
  } else {
    end_wait(this_worker());
  }
  tool::sync_wait_region(kind, endpoint, &task->team->tool_data, &task->tool_data, codeptr);
  if (endpoint == tool::Endpoint::kEnd) set_enter_frame(frame_of(task), nullptr);
}

void announce(tool::SyncRegion kind, tool::Endpoint endpoint, Task* task, const void* codeptr) {
  if (tool::present()) [[unlikely]] {
    announce_slowly(kind, endpoint, task, codeptr);
  }
}

// For tools, a taskwait with dependences is no taskwait region (OpenMP 5.2, section 15.5), but its wait is reported.
[[gnu::noinline]] void announce_dependent_wait(tool::Endpoint endpoint, Task* task, const void* codeptr) {
  if (endpoint == tool::Endpoint::kBegin) {
    set_enter_frame(frame_of(task), in_callers_frame());
  } else {
    end_wait(this_worker());
  }
  tool::sync_region_wait(tool::SyncRegion::kTaskwait, endpoint, &task->team->tool_data, &task->tool_data, codeptr);
  if (endpoint == tool::Endpoint::kEnd) set_enter_frame(frame_of(task), nullptr);
}

// For tools, a taskwait with dependences is a task of its own, which ends with the taskwait.
void announce_taskwait_task(Task* parent, uint64_t* data, const Dependence* list, size_t count, const void* codeptr) {
  using namespace tool::task_bits;
  if (tool::on(tool::event::kTaskCreate)) {
    tool::task_create(&parent->tool_data, frame_of(parent), data, kTaskwait | kUndeferred | kMergeable, count != 0,
                      codeptr, nullptr, 0);
  }
  announce_dependences(data, list, count);
}

void announce_taskwait_task_end(uint64_t* data) {
  if (tool::on(tool::event::kTaskSchedule)) tool::task_schedule(data, tool::TaskStatus::kTaskwaitComplete, nullptr);
}

}  // namespace

namespace {

[[gnu::noinline]] void taskwait_with_events(Worker* worker, Task* task, const void* codeptr) {
  if (task->has(task_flag::kInGraph)) persistent_note_wait(task, NodeKind::kTaskwait);
  progress_at_scheduling_point(worker);
  announce(tool::SyncRegion::kTaskwait, tool::Endpoint::kBegin, task, codeptr);
  if (!has_no_children(task)) wait_for_children(task);
  announce(tool::SyncRegion::kTaskwait, tool::Endpoint::kEnd, task, codeptr);
}

}  // namespace

void taskwait(Worker* worker, const void* codeptr) {
  Task* task = worker->task;
  if (task->has(task_flag::kInGraph) || progress_pending() || tool::present()) [[unlikely]] {
    return taskwait_with_events(worker, task, codeptr);
  }
  if (!has_no_children(task)) wait_for_children(task);
}

void taskwait_depend(Worker* worker, const Dependence* list, size_t count, const void* codeptr) {
  Task* task = worker->task;
  Event event;
  uint64_t tool_data = 0;
  if (tool::present()) [[unlikely]]
    announce_dependent_wait(tool::Endpoint::kBegin, task, codeptr);
  announce_taskwait_task(task, &tool_data, list, count, codeptr);
  bool waits = task->has(task_flag::kInGraph) ? enter_persistent_wait(worker, list, count, &event, tool_data)
                                              : enter_wait(worker, task, list, count, &event, tool_data);
  if (waits) {
    tool::report_wait(MARLINE_WAIT_DEPENDENCES);
    announce_wait(ompt::State::kWaitTaskwait);
    wait_event(&event, {WaitKind::kDependences, &event, nullptr});
  }
  announce_taskwait_task_end(&tool_data);
  if (tool::present()) [[unlikely]]
    announce_dependent_wait(tool::Endpoint::kEnd, task, codeptr);
}

void announce_group_begin(Task* task, const void* codeptr) {
  if (!tool::on(tool::event::kSyncRegion)) return;
  tool::sync_region(tool::SyncRegion::kTaskgroup, tool::Endpoint::kBegin, &task->team->tool_data, &task->tool_data,
                    codeptr);
}

void announce_group_wait(Task* task, const void* codeptr) {
  if (!tool::on(tool::event::kSyncRegionWait)) return;
  tool::sync_region_wait(tool::SyncRegion::kTaskgroup, tool::Endpoint::kBegin, &task->team->tool_data, &task->tool_data,
                         codeptr);
}

void announce_group_end(Task* task, const void* codeptr) {
  announce(tool::SyncRegion::kTaskgroup, tool::Endpoint::kEnd, task, codeptr);
}

void taskgroup_begin(Worker* worker, const void* codeptr, bool is_construct) {
  Task* task = worker->task;
  auto* group = new (worker->pool->allocate(sizeof(Taskgroup))) Taskgroup;
  taskgroup_init(group, task, task->taskgroup, is_construct);
  if (task->has(task_flag::kInGraph)) [[unlikely]]
    persistent_note_wait(task, NodeKind::kGroupBegin);
  task->taskgroup = group;
  announce_group_begin(task, codeptr);
}

void taskgroup_end(Worker* worker, const void* codeptr) {
  Task* task = worker->task;
  Taskgroup* group = task->taskgroup;
  if (group == nullptr || group->owner != task) fatal("a taskgroup region ends that this task has not begun");
  if (task->has(task_flag::kInGraph)) [[unlikely]]
    persistent_note_wait(task, NodeKind::kGroupEnd);
  progress_at_scheduling_point(worker);
  announce_group_wait(task, codeptr);
  wait_for_group(task, group);
  end_order(this_worker(), group);
  task->taskgroup = group->outer;
  SlabPool::release(group, this_worker()->pool);
  announce_group_end(task, codeptr);
}

}  // namespace marline
