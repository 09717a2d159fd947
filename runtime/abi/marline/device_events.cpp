// SPDX-License-Identifier: Apache-2.0
//
// The entry points of include/marline/devices.h through which libraries report the events of devices. Each starts the
// runtime, which looks for a tool, before it asks again whether a tool wants the event. Any thread.
#include "exec/worker/frames.hpp"
#include "exec/worker/worker.hpp"
#include "tool/device_trace.hpp"
#include "tool/devices.hpp"

#define MARLINE_EXPORT extern "C" [[gnu::visibility("default")]]

namespace marline {

namespace {

static_assert(tool::event::kTarget == MARLINE_ON_CONSTRUCT && tool::event::kTargetData == MARLINE_ON_DATA &&
              tool::event::kTargetSubmit == MARLINE_ON_KERNEL && tool::event::kTargetMap == MARLINE_ON_MAP &&
              tool::event::kDevice == MARLINE_ON_DEVICE && tool::event::kDeviceTimes == MARLINE_ON_TIMES &&
              tool::event::kOfDevices == MARLINE_ON_ANYTHING && tool::event::kTargetByTask == MARLINE_ON_BY_TASK &&
              tool::event::kTaskSchedule == MARLINE_ON_SCHEDULE);

static_assert(tool::DeviceTrace::kOverhead == MARLINE_ACTIVITY_OVERHEAD &&
              tool::DeviceTrace::kIdleness == MARLINE_ACTIVITY_IDLENESS);

constexpr int kNowait = 8;  // of ompt_target_t

// Whether a tool wants one of these events. First starts the runtime, which looks for a tool, if it has not started.
bool wanted(uint32_t events) {
  (void)this_worker();
  return tool::on(events);
}

uint32_t event_of(const marline_operation_t* operation) {
  return operation->kind == 0 ? tool::event::kTargetSubmit : tool::event::kTargetData;
}

void report_begin(marline_construct_t* construct) {
  construct->id = tool::unique_id();
  if (tool::on(tool::event::kTarget)) tool::target(tool::Endpoint::kBegin, construct);
}

// A construct with nowait runs as a target task. The task that encountered the construct is that task's parent.
void note_tasks(marline_construct_t* construct, Task* task) {
  bool has_own = (construct->kind & kNowait) != 0 && !task->has(task_flag::kImplicit) && task->parent != nullptr;
  construct->target_task = has_own ? &task->tool_data : nullptr;
  construct->task = has_own ? &task->parent->tool_data : &task->tool_data;
}

}  // namespace

}  // namespace marline

using namespace marline;

MARLINE_EXPORT const uint32_t* marline_device_events() {
  static_assert(sizeof tool::g_enabled == sizeof(uint32_t));
  return reinterpret_cast<const uint32_t*>(&tool::g_enabled);
}

MARLINE_EXPORT void marline_construct_begin(marline_construct_t* construct) {
  if (!wanted(tool::event::kTool)) return;
  Task* task = this_worker()->task;
  note_tasks(construct, task);
  construct_of(task) = construct;
  report_begin(construct);
}

// The parent lives as long as its child does.
MARLINE_EXPORT void marline_construct_begin_claimed(marline_construct_t* construct, const marline_claimed_t* claimed) {
  if (!tool::present()) return;
  auto* task = const_cast<Task*>(reinterpret_cast<const Task*>(claimed));
  construct->target_task = &task->tool_data;
  construct->task = &task->parent->tool_data;
  report_begin(construct);
}

MARLINE_EXPORT void marline_construct_end(marline_construct_t* construct) {
  if (construct->id == 0 && construct->task == nullptr) return;  // there was no tool at its begin
  if (tool::on(tool::event::kTarget)) tool::target(tool::Endpoint::kEnd, construct);
  marline_construct_leave(construct);
}

// If the construct's task has been suspended, the thread's current task may be another one or be in another construct.
MARLINE_EXPORT void marline_construct_leave(marline_construct_t* construct) {
  Worker* worker = this_worker_or_null();
  if (worker == nullptr || worker->task == nullptr || !tool::present()) return;
  if (construct_of(worker->task) == construct) construct_of(worker->task) = nullptr;
}

MARLINE_EXPORT void marline_operation_begin(marline_operation_t* operation) {
  if (!wanted(event_of(operation) | tool::event::kDeviceTimes)) return;
  operation->id = tool::unique_id();
  if (operation->construct != nullptr) operation->construct->operation = operation->id;
  if (tool::on(event_of(operation))) tool::operation(tool::Endpoint::kBegin, operation);
}

MARLINE_EXPORT void marline_operation_end(marline_operation_t* operation) {
  if (tool::on(event_of(operation))) tool::operation(tool::Endpoint::kEnd, operation);
}

MARLINE_EXPORT void marline_operation_done(const marline_operation_t* operation) {
  if (tool::on(tool::event::kDeviceTimes)) tool::operation_done(*operation);
}

MARLINE_EXPORT void marline_device_activity(int device, int kind, const char* what, uint64_t begin, uint64_t end) {
  if (tool::on(tool::event::kDeviceTimes)) tool::activity(device, static_cast<unsigned>(kind), what, begin, end);
}

MARLINE_EXPORT void marline_construct_maps(marline_construct_t* construct, unsigned count, void** host, void** device,
                                           size_t* bytes, unsigned* flags) {
  if (tool::on(tool::event::kTargetMap)) tool::target_maps(construct, count, host, device, bytes, flags);
}

MARLINE_EXPORT void marline_device_begin(int device, const char* type, int host) {
  if (wanted(tool::event::kTool)) tool::device_begin(device, type, host);
}

MARLINE_EXPORT void marline_device_load(int device, const void* image, size_t bytes, uint64_t module) {
  if (tool::on(tool::event::kDevice)) tool::device_load(device, image, bytes, module);
}

MARLINE_EXPORT void marline_device_unload(int device, uint64_t module) {
  if (tool::on(tool::event::kDevice)) tool::device_unload(device, module);
}

MARLINE_EXPORT void marline_device_end(int device) { tool::device_end(device); }

MARLINE_EXPORT void marline_tool_leave() { tool::leave(); }
