// SPDX-License-Identifier: Apache-2.0
//
// One word for all conditions of the process under which the creation or the end of a task needs more than the common
// steps. So the common path asks once. The upper half counts the pending operations of all progress hooks
// (sched/progress.hpp); it is signed, because an operation may be counted as ended first. The lower half has a count of
// cancellations (exec/worker/cancellation.hpp) and flags. Any thread.
#pragma once

#include "base/atomic.hpp"

#include <cstdint>

namespace marline {

namespace condition {
inline constexpr int64_t kSanitized = 1;   // g_sanitized (base/sanitizer.hpp)
inline constexpr int64_t kPriorities = 2;  // a task has had a priority (sched/queue.hpp)
inline constexpr int64_t kOptions = 4;     // Options::simple_creation is false: among others, a tool is there
inline constexpr int64_t kCancellation = 1 << 4;
inline constexpr int64_t kCancellations = (int64_t{1} << 31) - kCancellation;  // mask of the count
inline constexpr int64_t kOperation = int64_t{1} << 32;
constexpr int64_t operations(int64_t conditions) { return conditions >> 32; }
}  // namespace condition

inline Atomic<int64_t> g_conditions{0};

// Whether there are none. Relaxed: a thread that must see a condition is ordered after it by other means. The last
// looks before a sleep load the word seq_cst (sched/queue.cpp, sched/progress.hpp).
inline bool no_conditions() { return g_conditions.load(relaxed) == 0; }

inline bool any_condition(int64_t mask) { return (g_conditions.load(relaxed) & mask) != 0; }

}  // namespace marline
