// SPDX-License-Identifier: Apache-2.0
//
// Event: something that happens once, and the one task or thread that waits for it. The same word is used for
// marline_event_t, for the handle of a `detach` clause and for the runtime's own waits. The code that declares it owns
// it (often it is on the waiting task's stack); any thread may fulfil it.
//
// Invariant: the word goes through exactly one of two sequences of states, each step a single atomic operation:
//   pending -> waiter -> fulfilled      the fulfiller takes the waiter and must make it ready
//   pending -> fulfilled -> (refused)   the waiter is not published: it continues by itself
// So the waiter is released exactly once. A waiter is published only after its context is saved (by code that runs on
// another fiber). A fulfiller never accesses the word after its one exchange, so the owner may free the word at once.
// Model: tests/model/event.pml.
#pragma once

#include "base/atomic.hpp"
#include "base/check.hpp"

#include <cstdint>

namespace marline {

struct Task;

// The kind of a fulfilled event's waiter.
enum class WaiterKind : uintptr_t {
  kNone = 0,
  kTask = 2,        // a suspended task, to be resumed
  kCompletion = 3,  // a detached task after the end of its body, to be completed
  kThread = 4,      // a thread outside the runtime, asleep on a futex word
};

struct Waiter {
  WaiterKind kind;
  void* who;  // Task* or Atomic<uint32_t>*
};

class Event {
 public:
  // Waiter side. False: the event was already fulfilled, and nothing was published.
  [[nodiscard]] bool transition_to_waiting(WaiterKind kind, void* who) {
    MARLINE_ASSERT((reinterpret_cast<uintptr_t>(who) & kTagMask) == 0);
    uintptr_t expected = state_.load(relaxed) == kDetachPending ? kDetachPending : kPending;
    // release: the fulfiller sees the waiter's saved context; acquire: pairs with the fulfilment if it has come first.
    if (state_.compare_exchange_strong(expected, reinterpret_cast<uintptr_t>(who) | static_cast<uintptr_t>(kind),
                                       acq_rel, acquire)) {
      return true;
    }
    if (expected != kFulfilled) [[unlikely]] {
      fatal("two waits for one event: each needs an event of its own (marline_event_wait, or a detach event)");
    }
    return false;
  }

  // Fulfiller side. The caller must act on the returned waiter.
  [[nodiscard]] Waiter transition_to_fulfilled() {
    // acquire pairs with the waiter's publish; release with the waiter's resumption and is_fulfilled.
    uintptr_t old = state_.exchange(kFulfilled, acq_rel);
    if ((old & ~kTagMask) == 0) return {WaiterKind::kNone, nullptr};  // pending, or fulfilled
    return {static_cast<WaiterKind>(old & kTagMask), reinterpret_cast<void*>(old & ~kTagMask)};
  }

  bool is_fulfilled() const { return state_.load(acquire) == kFulfilled; }  // acquire pairs with the fulfilment
  Task* waiting_task() const {                                              // null: no task waits
    uintptr_t state = state_.load(acquire);                                 // pairs with the waiter's publish
    return (state & kTagMask) == static_cast<uintptr_t>(WaiterKind::kTask) ? reinterpret_cast<Task*>(state & ~kTagMask)
                                                                           : nullptr;
  }
  void reset() { state_.store(kPending, relaxed); }               // before the event is shared
  void reset_detach() { state_.store(kDetachPending, relaxed); }  // the same for the event of a detach clause

  // For tools, about the event of a detach clause. is_pending_detach: it is not fulfilled, and the task's body has not
  // ended. holds_completion: it is not fulfilled, and the body has ended.
  bool is_pending_detach() const { return state_.load(relaxed) == kDetachPending; }
  bool holds_completion() const {
    return (state_.load(relaxed) & kTagMask) == static_cast<uintptr_t>(WaiterKind::kCompletion);
  }

 private:
  static constexpr uintptr_t kPending = 0, kFulfilled = 1, kDetachPending = 5, kTagMask = 7;
  Atomic<uintptr_t> state_{kPending};
};

}  // namespace marline
