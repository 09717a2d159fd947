// SPDX-License-Identifier: Apache-2.0
//
// The schedules that Clang names (enum sched_type of LLVM's kmp.h) and the arithmetic of its inclusive loop bounds.
#pragma once

#include <cstdint>
#include <type_traits>

namespace marline::kmp {

enum Schedule : int32_t {
  kStaticChunked = 33,
  kStatic = 34,
  kDynamicChunked = 35,
  kGuidedChunked = 36,
  kRuntime = 37,
  kAuto = 38,
  kStaticBalanced = 41,
  kGuidedIterative = 42,
  kGuidedAnalytical = 43,
  kStaticSteal = 44,
  kStaticBalancedChunked = 45,
  kGuidedSimd = 46,
  kRuntimeSimd = 47,
  kOrderedOffset = 32,  // kOrdered... = the same + 32
  kOrderedFirst = 65,
  kOrderedLast = 72,
  kDistributeStaticChunked = 91,
  kDistributeStatic = 92,
  kMonotonic = 1 << 29,
  kNonmonotonic = 1 << 30,
  kModifiers = kMonotonic | kNonmonotonic,
};

inline int32_t without_modifiers(int32_t schedule) { return schedule & ~kModifiers; }
inline bool is_any_order(int32_t schedule) { return (schedule & kNonmonotonic) != 0; }
inline bool is_ordered(int32_t schedule) {
  int32_t plain = without_modifiers(schedule);
  return plain >= kOrderedFirst && plain <= kOrderedLast;
}
inline int32_t without_order(int32_t schedule) {
  return without_modifiers(schedule) - (is_ordered(schedule) ? kOrderedOffset : 0);
}
inline bool is_distribute(int32_t schedule) {
  int32_t plain = without_modifiers(schedule);
  return plain == kDistributeStatic || plain == kDistributeStaticChunked;
}
inline bool is_static_chunked(int32_t schedule) {
  int32_t plain = without_order(schedule);
  return plain == kStaticChunked || plain == kStaticBalancedChunked || plain == kDistributeStaticChunked;
}

// The number of iterations from `lower` to `upper`, both included; there is at least one, `increment` is not 0. All but
// 2^64 iterations fit.
template <class T, class S>
std::make_unsigned_t<T> trip_count(T lower, T upper, S increment) {
  using Unsigned = std::make_unsigned_t<T>;
  auto from = static_cast<Unsigned>(lower);
  auto to = static_cast<Unsigned>(upper);
  auto step = static_cast<Unsigned>(increment);
  return increment > 0 ? (to - from) / step + 1 : (from - to) / (Unsigned{0} - step) + 1;
}

}  // namespace marline::kmp
