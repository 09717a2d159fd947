// SPDX-License-Identifier: Apache-2.0
//
// Reads the clock of Frame::sent, CLOCK_MONOTONIC in nanoseconds. Any thread.
#pragma once

#include <cstdint>
#include <ctime>

namespace marline::offload::wire {

[[nodiscard]] inline uint64_t monotonic_nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace marline::offload::wire
