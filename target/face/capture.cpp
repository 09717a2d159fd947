// SPDX-License-Identifier: Apache-2.0
//
// Shows target tasks, as they are created, to the kind of devices that wants to take them ahead of time
// (device/base/capture.hpp). While there is none, the runtime tells nothing, and none of this is called. Any thread.
#include "base/report.hpp"
#include "device/base/named.hpp"
#include "face/captured.hpp"
#include "face/dry_run.hpp"
#include "mapping/devices.hpp"

namespace marline::target {

namespace {

// A task in a persistent graph cannot be taken.
void* show(const marline_target_task_t* told) {
  const CaptureSink* sink = capture_sink();
  if (keeps_names()) note_names(*told);
  if (sink == nullptr) return nullptr;
  if (told->in_graph != 0 || !sink->wants(told->device)) return nullptr;
  CapturedTask* task = told->form == MARLINE_TARGET_ENTRY ? run_dry(*told) : capture_maps(*told);
  if (task == nullptr) return nullptr;
  Destination to = destination_of(task->device);
  task->region_number = to.number;
  if (to.node != 0) task->node = to.node;
  void* taken = sink->take(task);
  if (taken == nullptr) free_captured(task);
  return taken;
}

// Once, under the lock of capture_to. Without a sink nothing is claimed, and names are noted alone.
void start(const CaptureSink* sink) {
  static constexpr CaptureSink kNone = {};
  static marline_target_observer_t observer;
  if (sink == nullptr) sink = &kNone;
  observer = {sizeof observer, show,        sink->ordered, sink->others_ended,
              sink->ready,     sink->waits, sink->cancels, sink->raised, sink->ended};
  if (marline_target_tasks_observe(&observer) != 0) {
    fatal("devices that take target tasks ahead of time: another library observes target tasks already, or "
          "libmarline.so is of another version");
  }
}

[[gnu::constructor]] void offer() { set_capture_start(start); }

}  // namespace

}  // namespace marline::target
