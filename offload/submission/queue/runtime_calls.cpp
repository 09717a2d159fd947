// SPDX-License-Identifier: Apache-2.0
//
// The functions that the runtime calls to report target tasks (marline_target_observer_t in devices.h). They claim the
// tasks that can be submitted early, and keep their records up to date. Any thread.
#include "base/make.hpp"
#include "base/report.hpp"
#include "device/contract/named.hpp"
#include "registry/loaded_variables.hpp"
#include "registry/registry.hpp"
#include "submission/observe/capture.hpp"
#include "submission/queue/submission.hpp"
#include "submission/queue/tool_events.hpp"
#include "submission/reductions.hpp"

extern "C" int omp_get_default_device();
extern "C" int omp_get_cancellation();

namespace marline::offload::submission {

using namespace registry;

namespace {

// The device, if tasks can be submitted to it early. Null: it is the host, it does not take such tasks, it is lost, or
// it has something to do first that may suspend.
Device* device_that_takes(int64_t number) {
  bool exists;
  Device* device = device_for_routine(number == -1 ? omp_get_default_device() : static_cast<int>(number), exists);
  if (device == nullptr || !device->takes_early.load(std::memory_order_relaxed) || device->lost) return nullptr;
  return is_prepared(device) ? device : nullptr;
}

bool wants(int64_t number) { return device_that_takes(number) != nullptr && !tool_forbids(); }

void* take(CapturedTask* task) {
  bool is_region = task->kind == ConstructKind::kTarget;
  // A data construct that is cancelled must have changed nothing, and one that has been submitted cannot be undone.
  bool stays = task->kind == ConstructKind::kEnterData || task->kind == ConstructKind::kExitData;
  if ((!is_region && !stays && task->kind != ConstructKind::kUpdate) || (stays && omp_get_cancellation() != 0))
    return nullptr;
  // Tasks of iterations are not reported to tools, so they are not taken while a tool listens.
  bool is_plain = task->reduced_count == 0;  // a task of a reduction is not a part of an iteration for the device
  if (task->graph != 0 && is_plain && is_reported(MARLINE_ON_ANYTHING | MARLINE_ON_SCHEDULE)) return nullptr;
  Device* device = device_that_takes(task->device);
  if (device == nullptr || (task->maps != nullptr && !knows_loaded_variables(device))) return nullptr;
  auto* one = make<SubmittedTask>("a deferred target region");
  one->task = task;
  one->device = device;
  one->task->items.of_region = is_region;
  one->task->items.source = {is_region ? task->kernel->name : nullptr, task->place, task->code};
  SoughtKernel* fresh = nullptr;
  {
    Guard guard(g_submission.lock);
    if (is_region && where(task->kernel, device) == 0 && !wait_for_kernel(one, fresh)) {
      destroy(one);
      return nullptr;
    }
    add_claimed(one, task->number);
  }
  if (fresh != nullptr) device->kind->early->start_find(device, const_cast<Entry*>(task->kernel), fresh);
  return one;
}

void ordered(void* taken, const uint64_t* numbers, size_t count, size_t others) {
  auto* one = static_cast<SubmittedTask*>(taken);
  List<uint64_t> to_report;
  if (one->task->graph != 0 && others == 0 && submit_in_turn(one, numbers, count)) return;
  {
    Guard guard(g_submission.lock);
    for (size_t i = 0; i < count; ++i) {
      SubmittedTask* before = g_submission.claimed.find(numbers[i]);
      if (before == nullptr) continue;  // it has ended
      one->predecessors.push(numbers[i]);
      if (lets_others_go(before)) continue;
      before->dependents.push(one);
      ++one->missing;
    }
    if (others != 0) ++one->missing;
    if (one->is_awaited) note_awaited(one->predecessors.begin(), one->predecessors.count(), to_report);
    count_down(one);
  }
  report_awaited(g_submission.device.load(), to_report);
  submit_ready();
}

void others_ended(void* taken) {
  {
    Guard guard(g_submission.lock);
    count_down(static_cast<SubmittedTask*>(taken));
  }
  submit_ready();
}

}  // namespace

// All predecessors have ended. A task that is still kWaiting has waited for predecessors that were left to the runtime,
// or waits for its kernel. It then goes on waiting for its kernel only.
void ready(void* taken) {
  auto* one = static_cast<SubmittedTask*>(taken);
  int pushed = 0;
  g_submission.lock.take();
  if (one->is_submitted()) report_detached(one);  // the task cannot end meanwhile, as it is not marked as ready yet
  one->is_ready = true;
  if (one->is_waiting()) {
    one->missing = one->seeks_kernel ? 2 : 1;
    count_down(one);
  } else if (one->may_end()) {
    push_end(one, pushed);
  }
  g_submission.lock.release();
  notify_hook(pushed);
  submit_ready();
}

namespace {

void program_waits(marline_wait_kind_t kind) {
  waits(kind);
  if (g_submission.waits.has_notified(kind)) return;
  {
    Guard guard(g_submission.lock);
    g_submission.waits.begin(kind, g_submission.device.load()->holds_back);
  }
  submit_ready();
}

void awaited(uint64_t number) {
  List<uint64_t> to_report;
  {
    Guard guard(g_submission.lock);
    note_awaited(&number, 1, to_report);
  }
  report_awaited(g_submission.device.load(), to_report);
}

// The priority of a task that is queued, or that a thread submits, stays as it is.
void raised(uint64_t number, int32_t priority) {
  Guard guard(g_submission.lock);
  SubmittedTask* one = g_submission.claimed.find(number);
  if (one != nullptr && one->is_waiting()) one->task->priority = priority;
}

// Cancels the submitted tasks that have been cancelled. `launch` checks the other tasks when it submits them.
void cancels() {
  List<uint64_t> numbers;
  {
    Guard guard(g_submission.lock);
    g_submission.claimed.for_each([&](const SubmittedTask& one) {
      if (!one.is_on_device()) return;
      if (!may_be_cancelled(one) || marline_claimed_is_cancelled(one.task->handle) == 0) return;
      numbers.push(one.number);
    });
  }
  Device* device = g_submission.device.load();
  for (uint64_t number : numbers) device->kind->early->cancel(device, number);
}

// Called when a task that was left to the runtime has ended.
void left_ended(uint64_t number) {
  Guard guard(g_submission.lock);
  SubmittedTask* one = g_submission.claimed.find(number);
  g_submission.claimed.remove(number);
  destroy(one);
}

// Called by the thread that creates the task. The names in depend clauses are recorded even if the task is not claimed.
void* created(const marline_target_task_t* task) {
  if (keeps_names()) note_names(*task);
  if (!wants(task->device)) return nullptr;
  CapturedTask* captured = capture_task(*task);
  if (captured == nullptr) return nullptr;
  void* claimed = take(captured);
  if (claimed == nullptr) free_captured(captured);
  return claimed;
}

void* created_for_names(const marline_target_task_t* task) {
  note_names(*task);
  return nullptr;
}

constexpr marline_target_observer_t kObserver = {
    .bytes = sizeof(marline_target_observer_t),
    .created = created,
    .ordered = ordered,
    .others_ended = others_ended,
    .ready = ready,
    .waits = program_waits,
    .cancels = cancels,
    .raised = raised,
    .ended = left_ended,
    .iterates = iterates,
    .iterated = iterated,
    .graph_ends = graph_ends,
    .awaited = awaited,
    .repeats = repeats,
    .replays_with_arguments = replays_with_arguments,
    .replay_next = replay_next,
    .reduces = record_reduction,
    .reduced = reduced,
};

constexpr marline_target_observer_t kNamesOnly = [] {
  marline_target_observer_t observer = {};
  observer.bytes = sizeof observer;
  observer.created = created_for_names;
  return observer;
}();

void observe(const marline_target_observer_t& observer) {
  if (marline_target_tasks_observe(&observer) == 0) return;
  fatal(
      "devices that take target tasks ahead of time: another library observes target tasks already, or "
      "libmarline.so is of another version");
}

void start() {
  g_submission.hook = marline_progress_register("deferred target regions", end_tasks, nullptr);
  if (g_submission.hook == nullptr) fatal("no progress hook is left for devices: unregister one of the program's");
  marline_progress_may_rest(g_submission.hook);
  observe(kObserver);
}

void start_names() {
  if (g_submission.hook == nullptr) observe(kNamesOnly);
}

void forget_all() {
  if (g_submission.hook == nullptr) return;
  g_submission.claimed = {};
  forget_graphs();
  forget_reductions();
  g_submission.to_submit = g_submission.to_end = {};
  g_submission.is_submitting = false;
  g_submission.submitted = 0;
  g_submission.waits.forget();
  marline_progress_add(g_submission.hook, -g_submission.counted - g_submission.in_parts.exchange(0));
  g_submission.counted = 0;
}

constexpr SubmissionLayer kLayer = {.start = start, .start_names = start_names, .forget = forget_all};

[[gnu::constructor]] void offer() { set_submission_layer(&kLayer); }

}  // namespace

}  // namespace marline::offload::submission
