// SPDX-License-Identifier: Apache-2.0
//
// The bell of the thread that waits for the wire: one sleeper, any number of ringers. Its word goes
//   quiet -> asleep -> quiet      by the sleeper, when its time is over
//   any   -> rung                 by a ringer, which wakes the sleeper if the word was `asleep`
//   rung  -> quiet                by the sleeper, which returns from `wait`
// A ring is not lost: the sleeper goes from `quiet` only, and the kernel lets it sleep only while the word is `asleep`.
#pragma once

#include <atomic>
#include <cstdint>

namespace marline::offload::wire {

using Doorbell = std::atomic<int>;

void ring(Doorbell& bell);

// Rings if the thread sleeps.
void disturb(Doorbell& bell);

// Whether it has been rung since the last call.
[[nodiscard]] bool take_ring(Doorbell& bell);

// Until it is rung or the time is over.
void sleep_at(Doorbell& bell, uint64_t nanoseconds);

}  // namespace marline::offload::wire
