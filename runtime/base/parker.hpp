// SPDX-License-Identifier: Apache-2.0
//
// Parker: one thread sleeps on it, and any thread may wake it. If the notification comes before the sleep, the parker
// keeps it (at most one).
//
// States: empty -> parked (the owner, about to sleep) -> notified (a waker) -> empty (the owner, awake);
//         empty -> notified -> empty if the waker comes first. Only the owner changes the state from `notified`.
//         parked -> empty (the owner, when its time limit has passed).
#pragma once

#include "base/futex.hpp"

namespace marline {

class Parker {
 public:
  // Owner: sleeps until notified; returns at once if a notification is there.
  void park() {
    uint32_t expected = kEmpty;
    if (state_.compare_exchange_strong(expected, kParked, acq_rel, acquire)) {
      while (state_.load(acquire) == kParked) futex_wait(state_, kParked);
    }
    state_.store(kEmpty, relaxed);  // it was kNotified, which only the owner leaves; the acquire is above
  }

  // Owner: the same, for at most `nanoseconds`.
  void park_for(uint64_t nanoseconds) {
    uint32_t expected = kEmpty;
    if (state_.compare_exchange_strong(expected, kParked, acq_rel, acquire))
      futex_wait_for(state_, kParked, nanoseconds);
    // acquire: takes a notification that came just as the time ran out.
    state_.exchange(kEmpty, acq_rel);
  }

  // Any thread. The owner sees the waker's earlier writes after park().
  void unpark() {
    if (state_.exchange(kNotified, acq_rel) == kParked) futex_wake(state_, 1);
  }

 private:
  enum : uint32_t { kEmpty, kParked, kNotified };
  Atomic<uint32_t> state_{kEmpty};  // the owner: empty/parked; wakers: notified
};

}  // namespace marline
