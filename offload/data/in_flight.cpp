// SPDX-License-Identifier: Apache-2.0
//
// A waiter lies on its construct's stack. It is woken under the lock, so the list never holds a waiter that is gone.
#include "data/in_flight.hpp"

namespace marline::offload::data {

void InFlight::wait(Lock& lock, const Device* device) {
  Waiter self;
  marline_event_init(&self.event);
  waiters.push_first(&self);
  const char* what = leaves ? "data on its way from" : "data on its way to";
  size_t moved = bytes;
  lock.release();  // from here on this object may be gone with its construct's stack
  wait_for_event(&self.event, device, what, moved);
  lock.take();
}

}  // namespace marline::offload::data
