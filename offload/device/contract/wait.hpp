// SPDX-License-Identifier: Apache-2.0
//
// Waiting for operations of devices: the task is suspended where a task can be, and otherwise the thread waits.
#pragma once

#include "device/contract/device.hpp"

namespace marline::offload::device {

// Waits for the event, which something of the device's fulfils; `what` is the reason that `marline ps` shows.
void wait_for_event(marline_event_t* event, const Device* device, const char* what, size_t bytes = 0);

// The same for callers that perhaps cannot suspend: then the thread lets the device's operations end meanwhile.
void wait_or_progress(marline_event_t* event, Device* device, const char* what, size_t bytes = 0);

// The scope in which the calling thread waits for a device without being suspended: `marline ps` shows it as one that
// waits for `what`, and not as one that computes.
class Blocked {
 public:
  Blocked(const Device* device, const char* what, size_t bytes = 0);
  ~Blocked();
  Blocked(const Blocked&) = delete;
  Blocked& operator=(const Blocked&) = delete;

 private:
  marline_wait_t why_;
};

// Runs a kernel that is found, to its end.
void run_and_wait(Device* device, const Launch& launch);

// An operation that somebody waits for.
struct Awaited : Operation {
  marline_event_t event;
  Device* device;

  explicit Awaited(Device* of);
  void wait(const char* what, size_t bytes = 0);
};

// A lock whose holder may suspend; those who wait for it are suspended as well. Taken by tasks and threads alike.
class SuspendingLock {
 public:
  void take();
  void release();

 private:
  struct Waiter;
  std::atomic_flag inner_;  // around the two below
  bool taken_ = false;
  Waiter* waiters_ = nullptr;
};

}  // namespace marline::offload::device
