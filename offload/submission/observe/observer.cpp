// SPDX-License-Identifier: Apache-2.0
//
// Shows target tasks, as they are created, to the kind of devices to which tasks can be submitted early
// (device/contract/capture.hpp). While there is no such device, the runtime reports nothing, and no function here is
// called. Any thread.
#include "base/report.hpp"
#include "device/contract/named.hpp"
#include "submission/observe/captured_task.hpp"
#include "submission/observe/dry_run.hpp"
#include "registry/registry.hpp"

namespace marline::offload::submission {

using namespace device;
using namespace registry;

namespace {

void* show(const marline_target_task_t* reported) {
  const CaptureSink* sink = capture_sink();
  if (keeps_names()) note_names(*reported);
  if (sink == nullptr) return nullptr;
  if (!sink->wants(reported->device)) return nullptr;
  CapturedTask* task = reported->form == MARLINE_TARGET_ENTRY ? run_dry(*reported) : capture_maps(*reported);
  if (task == nullptr) return nullptr;
  if (task->reduced_count != 0 && sink->reduced == nullptr) {
    free_captured(task);
    return nullptr;
  }
  Destination to = destination_of(task->device);
  task->region_number = to.number;
  if (to.node != 0) task->node = to.node;
  void* taken = sink->take(task);
  if (taken == nullptr) free_captured(task);
  return taken;
}

// A function that the sink does not need is null. The first three are for claimed tasks only, so there is a sink:
void ordered(void* taken, const uint64_t* numbers, size_t count, size_t others) {
  if (auto* tell = capture_sink()->ordered) tell(taken, numbers, count, others);
}
void others_ended(void* taken) {
  if (auto* tell = capture_sink()->others_ended) tell(taken);
}
void ready(void* taken) {
  if (auto* tell = capture_sink()->ready) tell(taken);
}

// For all tasks:
void waits(marline_wait_kind_t kind) {
  const CaptureSink* sink = capture_sink();
  if (sink != nullptr && sink->waits != nullptr) sink->waits(kind);
}
void cancels() {
  const CaptureSink* sink = capture_sink();
  if (sink != nullptr && sink->cancels != nullptr) sink->cancels();
}
void raised(uint64_t number, int32_t priority) {
  const CaptureSink* sink = capture_sink();
  if (sink != nullptr && sink->raised != nullptr) sink->raised(number, priority);
}

void ended(uint64_t number) {
  const CaptureSink* sink = capture_sink();
  if (sink != nullptr && sink->ended != nullptr) sink->ended(number);
}

void iterates(uint64_t graph, int has_barrier) {
  const CaptureSink* sink = capture_sink();
  if (sink != nullptr && sink->iterates != nullptr) sink->iterates(graph, has_barrier != 0);
}
void iterated(uint64_t graph) {
  const CaptureSink* sink = capture_sink();
  if (sink != nullptr && sink->iterated != nullptr) sink->iterated(graph);
}
void graph_ends(uint64_t graph) {
  const CaptureSink* sink = capture_sink();
  if (sink != nullptr && sink->graph_ends != nullptr) sink->graph_ends(graph);
}
void awaited(uint64_t number) {
  const CaptureSink* sink = capture_sink();
  if (sink != nullptr && sink->awaited != nullptr) sink->awaited(number);
}
int repeats(uint64_t graph, marline_claimed_t* all, uint64_t number) {
  const CaptureSink* sink = capture_sink();
  return sink != nullptr && sink->repeats != nullptr && sink->repeats(graph, all, number) ? 1 : 0;
}

int replays_with_arguments(uint64_t graph, marline_claimed_t* all, uint64_t number) {
  const CaptureSink* sink = capture_sink();
  return sink != nullptr && sink->replays_with_arguments != nullptr && sink->replays_with_arguments(graph, all, number)
             ? 1
             : 0;
}
int replay_next(const marline_target_task_t* task) { return capture_sink()->replay_next(*task) ? 1 : 0; }

// Called within `show`, by the entry that is run dry.
void reduces(const marline_reduction_t* reduction) { record_reduction(*t_recording, *reduction); }
int reduced(void* copy) {
  const CaptureSink* sink = capture_sink();
  return sink->reduced != nullptr && sink->reduced(copy) ? 1 : 0;
}

// Called once, under the lock of capture_to.
void start() {
  static constexpr marline_target_observer_t kObserver = {sizeof kObserver, show,     ordered,
                                                          others_ended,     ready,    waits,
                                                          cancels,          raised,   ended,
                                                          iterates,         iterated, graph_ends,
                                                          awaited,          repeats,  replays_with_arguments,
                                                          replay_next,      reduces,  reduced};
  if (marline_target_tasks_observe(&kObserver) != 0) {
    fatal(
        "devices that take target tasks ahead of time: another library observes target tasks already, or "
        "libmarline.so is of another version");
  }
}

[[gnu::constructor]] void offer() { set_capture_start(start); }

}  // namespace

}  // namespace marline::offload::submission
