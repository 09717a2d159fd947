// SPDX-License-Identifier: Apache-2.0
//
// Waits for a construct. A Waiter lies on the stack of the thread that waits. It is taken off the list and woken under
// the lock, so the list never holds a Waiter whose stack frame no longer exists.
#include "data/in_flight.hpp"

namespace marline::offload::data {

void InFlight::wait(Lock& lock, const Device* device) {
  Waiter self;
  marline_event_init(&self.event);
  waiters.push_first(&self);
  const char* what = leaves ? "data on its way from" : "data on its way to";
  size_t moved = bytes;
  lock.release();  // from here on the construct may end and destroy this object, so its members are not read any more
  wait_for_event(&self.event, device, what, moved);
  lock.take();
}

}  // namespace marline::offload::data
