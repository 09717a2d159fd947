// SPDX-License-Identifier: Apache-2.0
//
// The bell of the thread that waits for the wire: one sleeper, any number of ringers. Its word changes
//   quiet -> asleep -> quiet      by the sleeper, when its time is over
//   any   -> rung                 by a ringer, which wakes the sleeper if the word was `asleep`
//   rung  -> quiet                by the sleeper, which returns from `wait`
// No ring is lost: the sleeper falls asleep only from `quiet`, and the kernel lets it sleep only while the word is
// `asleep`.
#pragma once

#include <atomic>
#include <cstdint>

namespace marline::offload::wire {

using Doorbell = std::atomic<int>;

void ring(Doorbell& bell);

// Rings only if the waiting thread sleeps.
void disturb(Doorbell& bell);

// Whether the bell has been rung since the last call.
[[nodiscard]] bool take_ring(Doorbell& bell);

// Sleeps until the bell is rung or the time is over.
void sleep_at(Doorbell& bell, uint64_t nanoseconds);

}  // namespace marline::offload::wire
