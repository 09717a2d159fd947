// SPDX-License-Identifier: Apache-2.0
//
// Waits for operations of devices. The task is suspended where a task can be suspended; otherwise the thread waits.
#pragma once

#include "base/intrusive_list.hpp"
#include "device/contract/device.hpp"

namespace marline::offload::device {

// Waits for the event, which the device fulfils. `what` is the reason that `marline ps` shows.
void wait_for_event(marline_event_t* event, const Device* device, const char* what, size_t bytes = 0);

// Waits for the event if the caller perhaps cannot suspend. Then the thread calls the device's progress function
// meanwhile.
void wait_or_progress(marline_event_t* event, Device* device, const char* what, size_t bytes = 0);

// The scope in which the calling thread waits for a device without being suspended. In it, `marline ps` shows that the
// thread waits for `what`, not that it computes.
class Blocked {
 public:
  Blocked(const Device* device, const char* what, size_t bytes = 0);
  ~Blocked();
  Blocked(const Blocked&) = delete;
  Blocked& operator=(const Blocked&) = delete;

 private:
  marline_wait_t why_;
};

// Runs a kernel to its end. Its address on the device is known.
void run_and_wait(Device* device, const Launch& launch);
// Runs a kernel without arguments that constructs device objects, and waits for its end.
void run_constructor(Device* device, const Entry* kernel, uint64_t code);

// An operation that the creating thread or task waits for.
struct Awaited : Operation {
  marline_event_t event;
  Device* device;

  explicit Awaited(Device* of);
  void wait(const char* what, size_t bytes = 0);
};

// A task or thread that waits. It lies on the stack of that task or thread.
struct Waiter {
  marline_event_t event = MARLINE_EVENT_INIT;
  Waiter* next = nullptr;
};
// The waiters may be gone after this.
void wake_all(IntrusiveList<Waiter> waiters);

// A lock whose holder may be suspended. A task that waits for it is suspended, too. Both tasks and threads may take it.
class SuspendingLock {
 public:
  void take();
  void release();

 private:
  std::atomic_flag inner_;  // protects the two members below
  bool taken_ = false;
  IntrusiveList<Waiter> waiters_;
};

}  // namespace marline::offload::device
