// SPDX-License-Identifier: Apache-2.0
//
// A waiter lies on its construct's stack. It is woken under the lock, so the list never holds a waiter that is gone.
#include "data/in_flight.hpp"

#include "device/contract/wait.hpp"

namespace marline::offload::data {

struct Waiter {
  marline_event_t event;
  Waiter* next;
};

void InFlight::wait(Lock& lock, const Device* device) {
  Waiter self = {MARLINE_EVENT_INIT, waiters};
  marline_event_init(&self.event);
  waiters = &self;
  const char* what = leaves ? "data on its way from" : "data on its way to";
  size_t moved = bytes;
  lock.release();  // from here on this object may be gone with its construct's stack
  wait_for_event(&self.event, device, what, moved);
  lock.take();
}

void InFlight::wake() {
  for (Waiter* waiter = waiters; waiter != nullptr;) {
    Waiter* next = waiter->next;  // the waiter may be gone once it is woken
    marline_event_fulfill(&waiter->event);
    waiter = next;
  }
}

}  // namespace marline::offload::data
