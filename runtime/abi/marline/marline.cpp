// SPDX-License-Identifier: Apache-2.0
//
// The entry points of include/marline/marline.h. Any thread.
#include "marline/marline.h"

#include "base/check.hpp"
#include "base/version.hpp"
#include "config/options.hpp"
#include "construct/device/provider.hpp"
#include "construct/task/next_task.hpp"
#include "exec/view/inspect.hpp"
#include "exec/worker/blocked.hpp"
#include "exec/worker/cancellation.hpp"
#include "exec/worker/forks.hpp"
#include "exec/worker/hold.hpp"
#include "exec/worker/suspend.hpp"
#include "graph/profile.hpp"
#include "sched/library_call.hpp"
#include "sched/progress.hpp"
#include "sched/queue.hpp"
#include "tool/tool.hpp"

#define MARLINE_EXPORT extern "C" [[gnu::visibility("default")]]

namespace {

static_assert(sizeof(marline_event_t) == sizeof(marline::Event));

marline::Event* as_event(marline_event_t* event) { return reinterpret_cast<marline::Event*>(event); }

}  // namespace

MARLINE_EXPORT const char* marline_version() { return marline::kVersion; }

MARLINE_EXPORT void marline_event_init(marline_event_t* event) { as_event(event)->reset(); }

MARLINE_EXPORT void marline_event_wait(marline_event_t* event) { marline::wait_event(as_event(event)); }

MARLINE_EXPORT void marline_event_wait_for(marline_event_t* event, const marline_wait_t* wait) {
  marline::wait_event(as_event(event), {marline::WaitKind::kEvent, event, wait});
}

MARLINE_EXPORT void marline_block_begin(const marline_wait_t* wait) { marline::block_begin(wait); }

MARLINE_EXPORT void marline_block_end() { marline::block_end(); }

MARLINE_EXPORT int marline_describe_register(const char* name, marline_describe_fn describe, void* arg) {
  return marline::describe_register(name, describe, arg) ? 0 : -1;
}

MARLINE_EXPORT int marline_describe_relay(const char* secret) { return marline::inspect_relay(secret); }

MARLINE_EXPORT void marline_event_fulfill(marline_event_t* event) {
  marline::fulfil_for_program(marline::acting_worker(), as_event(event));
}

MARLINE_EXPORT int marline_event_test(const marline_event_t* event) {
  return as_event(const_cast<marline_event_t*>(event))->is_fulfilled() ? 1 : 0;
}

MARLINE_EXPORT void marline_suspend_observe(marline_suspend_fn observer) {
  marline::tool::observe_suspensions(observer);
}

MARLINE_EXPORT int marline_can_suspend() { return marline::can_suspend() ? 1 : 0; }

MARLINE_EXPORT void marline_library_enter(marline_library_call_t* call) {
  static_assert(sizeof(marline_library_call_t) == sizeof(marline::LibraryCall));
  marline::library_enter(reinterpret_cast<marline::LibraryCall*>(call));
}

MARLINE_EXPORT void marline_library_leave(marline_library_call_t* call) {
  marline::library_leave(reinterpret_cast<marline::LibraryCall*>(call));
}

MARLINE_EXPORT int marline_is_called_back() { return marline::is_called_back(marline::this_worker_or_null()) ? 1 : 0; }

MARLINE_EXPORT marline_hook_t* marline_progress_register(const char* name, marline_poll_fn poll, void* arg) {
  // First: the hook's library may hold locks around calls of the runtime, and registers its own handlers later.
  marline::handle_forks();
  return marline::progress_register(name, poll, arg);
}

MARLINE_EXPORT void marline_progress_unregister(marline_hook_t* hook) { marline::progress_unregister(hook); }

MARLINE_EXPORT void marline_progress_add(marline_hook_t* hook, int n) { marline::progress_add(hook, n); }

MARLINE_EXPORT void marline_task_label(const char* label) {
  marline::next_task(marline::this_worker())->label = label;
  marline::tool::g_names_used.store(1, marline::relaxed);
}

MARLINE_EXPORT void marline_task_color(uint32_t rgb) {
  marline::next_task(marline::this_worker())->color = rgb & marline::Task::kColor;
  marline::tool::g_names_used.store(1, marline::relaxed);
}

MARLINE_EXPORT void marline_task_affinity(const void* address, size_t length) {
  marline::next_task_affinity(marline::this_worker(), address, length);
}

MARLINE_EXPORT void marline_task_node(int node) {
  const marline_device_provider_t* devices = marline::device_provider();
  int nodes = devices != nullptr && devices->nodes != nullptr ? devices->nodes() : 0;
  if (nodes == 0) return;
  if (node < 1 || node > nodes) marline::fatal("marline_task_node(%d): the cluster has the nodes 1 to %d", node, nodes);
  marline::next_task(marline::this_worker())->node = node;
}

MARLINE_EXPORT marline_task_t* marline_task_hold() {
  return reinterpret_cast<marline_task_t*>(marline::hold_current_task());
}

MARLINE_EXPORT void marline_task_release(marline_task_t* task) {
  marline::release_hold(marline::acting_worker(), reinterpret_cast<marline::Hold*>(task));
}

MARLINE_EXPORT void marline_task_sends() {
  if (!marline::options().priority.profiles) return;
  if (marline::Worker* worker = marline::this_worker_or_null()) marline::profile_note_send(worker);
}

MARLINE_EXPORT void marline_taskgroup_cancel_later() { marline::cancel_later(marline::this_worker()->task); }

MARLINE_EXPORT int marline_taskgroup_cancelled() {
  return marline::is_later_cancelled(marline::this_worker()->task) ? 1 : 0;
}

MARLINE_EXPORT int marline_task_cancelled() { return marline::is_task_cancelled(marline::this_worker()->task) ? 1 : 0; }
