// SPDX-License-Identifier: Apache-2.0
//
// Reads the clock by which this library measures all times: CLOCK_MONOTONIC in nanoseconds, which all processes of a
// machine share.
#pragma once

#include <cstdint>
#include <ctime>

namespace marline::offload {

[[nodiscard]] inline uint64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace marline::offload
