// SPDX-License-Identifier: Apache-2.0
//
// The plan of a taskloop. Stateless.
#include "construct/taskloop.hpp"

#include <algorithm>

namespace marline {

namespace {

// Enough tasks for a thief to find some, few enough that making them costs little.
constexpr uint64_t kTasksPerThread = 10;

TaskloopPlan even(uint64_t iterations, uint64_t tasks) {
  tasks = std::clamp<uint64_t>(tasks, 1, iterations);
  return {iterations, tasks, iterations / tasks, iterations % tasks};
}

}  // namespace

TaskloopPlan taskloop_plan(uint64_t iterations, TaskloopClause clause, uint64_t value, bool strict, int threads) {
  if (iterations == 0) return {0, 0, 0, 0};
  value = std::max<uint64_t>(value, 1);
  switch (clause) {
    case TaskloopClause::kNumTasks: return even(iterations, value);
    case TaskloopClause::kGrainsize:
      if (strict) return {iterations, (iterations - 1) / value + 1, value, 0};
      return even(iterations, iterations / value);  // each at least the grain and less than two
    case TaskloopClause::kNone: break;
  }
  return even(iterations, kTasksPerThread * static_cast<uint64_t>(threads));
}

}  // namespace marline
