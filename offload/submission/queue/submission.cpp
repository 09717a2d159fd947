// SPDX-License-Identifier: Apache-2.0
//
// Submits deferred target constructs to a device before their predecessors have ended (start_submission in
// device/contract/capture.hpp; docs/design/cluster-submission.md).
//
// A task is submitted as soon as all its predecessors, direct or not, that are not claimed have ended. From then on it
// waits only for tasks on the device, which need nothing but the device. Its maps are processed when it is submitted
// (submit.cpp). A task whose maps may have to wait for other constructs is left to the runtime, and its successors wait
// on the host until it has ended.
//
// Any thread. One lock guards all records. No function of a device or of a data environment is called with the lock,
// and no function of the runtime but queries (omp_get_level, marline_claimed_is_cancelled). One thread at a time
// submits: tasks in the order of the queue, or regions of a graph (graph_iterations.cpp).
#include "submission/queue/submission.hpp"

#include "base/forks.hpp"
#include "image/images.hpp"

#include <sched.h>

namespace marline::offload::submission {

namespace {

// The number of searches for predecessors so far, and the task of the last one.
uint64_t g_search = 0, g_searched = 0;

}  // namespace

SubmissionState g_submission;
namespace {
const HeldAcrossForks g_held(g_submission.lock, ForkOrder::kSubmission);
}

void push_end(SubmittedTask* one, int& pushed) {
  g_submission.to_end.push(one);
  ++g_submission.counted;
  ++pushed;
}

void notify_hook(int pushed) {
  if (pushed != 0) marline_progress_add(g_submission.hook, pushed);
}

void count_down(SubmittedTask* one) {
  if (--one->missing != 0 || !one->is_waiting()) return;
  one->transition_to_queued();
  g_submission.to_submit.push(one);
}

void add_claimed(SubmittedTask* one, uint64_t number) {
  one->created = g_submission.waits.add(g_submission.claimed.is_empty());
  one->key = number;
  g_submission.claimed.add(number, one);
  if (g_submission.device.load() == nullptr) g_submission.device = one->device;
}

// Called with the lock. Successors of a kernel's first run are submitted only after that run ends. Only then does the
// device know what it needs to take successors, such as whether the kernel stores pointers. If a construct copies data
// to the device that its predecessors may still change (`looks_later`), its successors are submitted only after the
// copies have ended.
bool lets_others_go(const SubmittedTask* one) {
  if (!one->is_submitted()) return false;  // a task that is left to the runtime has no `task` any more
  const Entry* kernel = one->task->kernel;
  if (one->looks_later) return one->has_ended;
  return one->has_ended || kernel == nullptr || kernel->has_run.load(std::memory_order_relaxed);
}

namespace {

void release_dependents(SubmittedTask* one) {
  for (SubmittedTask* dependent : one->dependents) count_down(dependent);
  one->dependents.shrink(0);
}

bool device_ended(Operation* operation) {
  auto* one = static_cast<SubmittedTask*>(operation);
  int pushed = 0;
  bool in_parts, may_have_run = marline_claimed_is_cancelled(one->task->handle) == 0;
  {
    Guard guard(g_submission.lock);
    if (!one->is_submitted_in_turn) --g_submission.submitted;
    one->has_ended = true;
    in_parts = one->in_parts;
    if (one->task->kernel != nullptr && may_have_run)
      const_cast<Entry*>(one->task->kernel)->has_run.store(true, std::memory_order_relaxed);
    if (one->is_submitted()) release_dependents(one);
    if (one->may_end()) push_end(one, pushed);
  }
  notify_hook(pushed);
  if (in_parts) count_in_parts(-1);
  submit_ready();
  return true;
}

// Called with the lock. Lists the operations of predecessors that have not ended. Every predecessor is ended or
// submitted when we get here: one that was left to the runtime has no record any more when the task becomes ready.
void list_open_predecessors(const SubmittedTask* one, List<uint64_t>& after) {
  for (uint64_t number : one->predecessors) {
    SubmittedTask* before = g_submission.claimed.find(number);
    if (before != nullptr && before->is_on_device()) after.push(before->number);
  }
}

// Called with the lock. If the program awaited one region of a kernel, assume that it awaits all of them: then the
// device need not be notified of each after its launch.
bool is_awaited(const SubmittedTask* one) {
  const Entry* kernel = one->task->kernel;
  if (kernel == nullptr || one->is_awaited || g_submission.waits.is_awaited(one->created)) return true;
  return !kernel->has_run.load(std::memory_order_relaxed) || kernel->is_awaited.load(std::memory_order_relaxed);
}

// Whether other constructs may wait until the task has ended, as it changes map entries.
bool keeps_in_flight(const SubmittedTask* one) { return one->ending != nullptr; }

// Called with the lock, by the submitting thread. A task that is left to the runtime can run when its predecessors have
// ended, so their ends are awaited.
void note_submitted(SubmittedTask* one, bool is_launched, List<uint64_t>& to_report, int& pushed) {
  is_launched ? one->transition_to_submitted() : one->transition_to_left_to_runtime();
  if (is_launched && one->is_awaited) note_to_report(one, to_report);
  if (!is_launched || keeps_in_flight(one))
    note_awaited(one->predecessors.begin(), one->predecessors.count(), to_report);
  if (is_launched && one->device->holds_back && !one->has_ended) g_submission.waits.note_given(one->created);
  if (lets_others_go(one)) release_dependents(one);
  if (one->may_end()) push_end(one, pushed);
}

// Called with the lock. Marks the direct and indirect predecessors of the task, which is being submitted. All of them
// have been submitted or have ended: a task waits on the host for predecessors that are left to the runtime.
void mark_those_before(const SubmittedTask* one) {
  ++g_search;
  g_searched = one->key;
  List<const SubmittedTask*> open;
  open.push(one);
  while (!open.is_empty()) {
    const SubmittedTask* next = open.back();
    open.pop();
    for (uint64_t number : next->predecessors) {
      SubmittedTask* before = g_submission.claimed.find(number);
      if (before == nullptr || before->met_in == g_search) continue;
      before->met_in = g_search;
      open.push(before);
    }
  }
}

}  // namespace

// The search for predecessors is made once for each task.
bool is_ordered_after(const SubmittedTask* one, uint64_t task) {
  Guard guard(g_submission.lock);
  const SubmittedTask* other = g_submission.claimed.find(task);
  if (other == nullptr) return true;
  if (g_search == 0 || g_searched != one->key) mark_those_before(one);
  return other->met_in == g_search;
}

bool find_operation(uint64_t task, uint64_t& operation) {
  Guard guard(g_submission.lock);
  const SubmittedTask* one = g_submission.claimed.find(task);
  if (one != nullptr) operation = one->number;
  return one != nullptr;
}

void count_in_parts(int constructs) {
  g_submission.in_parts.fetch_add(constructs, std::memory_order_relaxed);
  marline_progress_add(g_submission.hook, constructs);
}

void report_detached(const SubmittedTask* one) {
  if (!is_reported(MARLINE_ON_SCHEDULE)) [[likely]] {
    return;
  }
  g_submission.lock.release();
  marline_claimed_detach(one->task->handle);
  g_submission.lock.take();
}

namespace {

// Submits the first task of the queue. Called with the lock, which it releases meanwhile.
void submit_first(int& pushed) {
  ++g_submission.submitted;
  SubmittedTask* one = g_submission.to_submit.pop();
  List<uint64_t> after, to_report;
  list_open_predecessors(one, after);
  one->is_reported = is_awaited(one);
  g_submission.lock.release();
  one->ended = device_ended;
  bool is_launched = launch(one, after);
  g_submission.lock.take();
  if (is_launched && one->is_ready) report_detached(one);  // the task cannot end: it is not marked as submitted yet
  if (!is_launched) --g_submission.submitted;
  note_submitted(one, is_launched, to_report, pushed);
  if (to_report.is_empty()) return;
  g_submission.lock.release();
  report_awaited(g_submission.device.load(), to_report);
  g_submission.lock.take();
}

// Notifies the device that the program waits. Called with the lock, which it releases meanwhile. All tasks that can be
// submitted have been, so the device knows them when it plans.
void notify_wait() {
  bool singly = g_submission.waits.take();
  g_submission.lock.release();
  Device* device = g_submission.device.load();
  device->kind->early->waits(device, singly);
  g_submission.lock.take();
}

}  // namespace

void submit_ready() {
  int pushed = 0;
  g_submission.lock.take();
  while (!g_submission.is_submitting) {
    const SubmittedTask* next = g_submission.to_submit.first();
    bool has_next = next != nullptr && g_submission.submitted < next->device->most_submitted;
    if (!has_next && !g_submission.waits.must_notify()) break;
    g_submission.is_submitting = true;
    has_next ? submit_first(pushed) : notify_wait();
    g_submission.is_submitting = false;
  }
  g_submission.lock.release();
  notify_hook(pushed);
}

// Used for the regions of a persistent graph's iteration, and for whole iterations. If another thread is submitting,
// waits until it is done, which takes some microseconds. The task is launched as one that the program waits for
// (`is_reported`): the program may wait for all tasks of an iteration before it begins the next iteration.
bool submit_now(SubmittedTask* one, List<uint64_t>& after) {
  List<uint64_t> to_report;
  int pushed = 0;
  g_submission.lock.take();
  while (g_submission.is_submitting) {
    g_submission.lock.release();
    sched_yield();
    g_submission.lock.take();
  }
  g_submission.is_submitting = true;
  one->is_reported = true;
  g_submission.lock.release();
  one->ended = device_ended;
  bool is_launched = launch(one, after);
  g_submission.lock.take();
  g_submission.is_submitting = false;
  one->missing = 0;
  note_submitted(one, is_launched, to_report, pushed);
  g_submission.lock.release();
  report_awaited(g_submission.device.load(), to_report);
  notify_hook(pushed);
  submit_ready();  // submits what other threads have queued meanwhile
  return is_launched;
}

}  // namespace marline::offload::submission
