// SPDX-License-Identifier: Apache-2.0
//
// The record of a construct that fills or empties map entries, and of the threads that wait for the construct. The
// record lies on the construct's stack, with the record of an early-submitted construct, or in a transient map entry.
// Guarded by the lock of the data environment.
#pragma once

#include "base/lock.hpp"
#include "data/order/submission_order.hpp"
#include "device/contract/wait.hpp"

namespace marline::offload::data {

using namespace device;

struct InFlight {
  static constexpr uint64_t kNoOperation = ~uint64_t{0};

  IntrusiveList<Waiter> waiters;
  size_t bytes = 0;                   // number of bytes that the construct moves, for `marline ps`
  bool leaves = false;                // the construct removes the entries, so data moves back to the host
  bool is_sent = false;               // the construct is submitted early (submission_order.hpp); then it has:
  uint64_t task = 0;                  // the number of its task,
  uint64_t operation = kNoOperation;  // and the operation of its copies on the device, set by the submitting thread

  void note_sent(const SubmissionOrder& order) {
    is_sent = true;
    task = order.task;
  }
  // Whether this construct is submitted early, and the one that `order` describes is ordered after it.
  [[nodiscard]] bool is_before(const SubmissionOrder& order) const { return is_sent && order.is_after(task); }

  // Waits for the construct. The caller has the lock before and after the call. It is released during the wait, so
  // everything that it guards may have changed.
  void wait(Lock& lock, const Device* device);
  // Wakes the waiters, when the entries are no longer in flight.
  void wake() { wake_all(waiters); }
};

}  // namespace marline::offload::data
