// SPDX-License-Identifier: Apache-2.0
//
// Implements waiting with events, and the lock as a list of waiters.
#include "device/contract/wait.hpp"

#include "device/contract/tool_reports.hpp"

#include <sched.h>

namespace marline::offload::device {

Awaited::Awaited(Device* of) : event MARLINE_EVENT_INIT, device(of) {
  marline_event_init(&event);
  has_poller = !marline_target_can_suspend();
  ended = [](Operation* operation) {
    marline_event_fulfill(&static_cast<Awaited*>(operation)->event);
    return true;
  };
}

namespace {

marline_wait_t reason(const Device* device, const char* what, size_t bytes) {
  static constexpr const char* kNames[] = {"device", "bytes", "since", nullptr};
  return {what, kNames, {device->number, static_cast<int64_t>(bytes), static_cast<int64_t>(now())}, nullptr, 0, 0};
}

}  // namespace

void wait_for_event(marline_event_t* event, const Device* device, const char* what, size_t bytes) {
  marline_wait_t why = reason(device, what, bytes);
  marline_event_wait_for(event, &why);
}

Blocked::Blocked(const Device* device, const char* what, size_t bytes) : why_(reason(device, what, bytes)) {
  marline_block_begin(&why_);
}

Blocked::~Blocked() { marline_block_end(); }

static void progress_until(marline_event_t* event, Device* device, const char* what, size_t bytes) {
  if (marline_event_test(event)) return;
  Blocked blocked(device, what, bytes);
  while (!marline_event_test(event)) device->kind->progress(device);
}

void wait_or_progress(marline_event_t* event, Device* device, const char* what, size_t bytes) {
  if (marline_target_can_suspend()) wait_for_event(event, device, what, bytes);
  progress_until(event, device, what, bytes);
}

// If an operation has a poller, perhaps no other thread polls for it. So its waiter polls and is not suspended.
void Awaited::wait(const char* what, size_t bytes) {
  if (has_poller) return progress_until(&event, device, what, bytes);
  wait_or_progress(&event, device, what, bytes);
}

void run_and_wait(Device* device, const Launch& launch) {
  Awaited operation(device);
  operation.timed = launch.reported != nullptr;
  report_kernel_begin(launch.reported, device, launch.teams);
  bool has_run = device->kind->launch(device, launch, &operation);
  report_kernel_started(launch.reported);
  if (!has_run) operation.wait("kernel");
  report_kernel_end(launch.reported, operation.begin, operation.end, operation.by);
}

void wake_all(IntrusiveList<Waiter> waiters) {
  for (Waiter* waiter : waiters) marline_event_fulfill(&waiter->event);
}

void SuspendingLock::take() {
  Waiter self;
  while (inner_.test_and_set(std::memory_order_acquire)) sched_yield();  // pairs with the clears of `inner_`
  bool must_wait = taken_;
  taken_ = true;
  if (must_wait) waiters_.push_first(&self);
  inner_.clear(std::memory_order_release);
  if (must_wait) marline_event_wait(&self.event);  // `release` leaves the lock taken for this waiter
}

void SuspendingLock::release() {
  while (inner_.test_and_set(std::memory_order_acquire)) sched_yield();  // pairs with the clears of `inner_`
  Waiter* next = waiters_.pop();
  if (next == nullptr) taken_ = false;
  inner_.clear(std::memory_order_release);
  if (next != nullptr) marline_event_fulfill(&next->event);
}

void run_constructor(Device* device, const Entry* kernel, uint64_t code) {
  Launch launch = {};
  launch.kernel = kernel;
  launch.code = code;
  run_and_wait(device, launch);
}

}  // namespace marline::offload::device
