// SPDX-License-Identifier: Apache-2.0
//
// Maps priorities to buckets: a pure, monotone function. With few levels (OMP_MAX_TASK_PRIORITY below kPriorityBuckets)
// each priority has its own bucket. With all of [0, INT_MAX] the buckets are exact at both ends, because programs use
// 1, 2, 3 and heuristics count down from INT_MAX, and they grow towards the middle: up to 2^30 the bucket is the
// priority as a floating-point number with a fraction of 6 bits, above it the mirror image. Two priorities in one
// bucket differ by less than 1/64 of their distance from the nearer end.
#pragma once

#include "config/options.hpp"

#include <bit>
#include <climits>
#include <cstdint>

namespace marline {

inline constexpr int kPriorityBuckets = Options::kExactPriorities;

namespace priority_bucket {

inline constexpr int kFractionBits = 6;
inline constexpr uint32_t kMiddle = 1u << 30;

// Exact below 2^7, then 64 buckets for each doubling.
constexpr int from_zero(uint32_t distance) {
  int width = std::bit_width(distance);
  if (width <= kFractionBits + 1) return static_cast<int>(distance);
  int shift = width - 1 - kFractionBits;
  return (shift << kFractionBits) + static_cast<int>(distance >> shift);
}

inline constexpr int kHalf = from_zero(kMiddle - 1) + 1;
static_assert(2 * kHalf <= kPriorityBuckets);

}  // namespace priority_bucket

// exact: all priorities are below kPriorityBuckets. Not for negative priorities.
constexpr int priority_bucket_of(int32_t priority, bool exact) {
  using namespace priority_bucket;
  auto value = static_cast<uint32_t>(priority);
  if (exact) return priority;
  if (value < kMiddle) return from_zero(value);
  return 2 * kHalf - 1 - from_zero(static_cast<uint32_t>(INT_MAX) - value);
}

}  // namespace marline
