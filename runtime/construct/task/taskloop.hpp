// SPDX-License-Identifier: Apache-2.0
//
// Divides a taskloop's iterations into tasks (OpenMP 5.2, section 12.6), and sets the dependences of these tasks. The
// faces make the tasks, in the thread that encounters the loop.
#pragma once

#include "sched/team.hpp"

#include <cstdint>

namespace marline {

enum class TaskloopClause : int32_t { kNone = 0, kGrainsize = 1, kNumTasks = 2 };

// Task i has `size` iterations, the first `longer` tasks have one more; with a strict grain the last task has the rest.
struct TaskloopPlan {
  uint64_t iterations;
  uint64_t tasks;
  uint64_t size;
  uint64_t longer;

  [[nodiscard]] uint64_t first(uint64_t i) const { return i * size + (i < longer ? i : longer); }
  [[nodiscard]] uint64_t count(uint64_t i) const {
    return i + 1 == tasks ? iterations - first(i) : size + (i < longer ? 1 : 0);
  }
};

// The argument of marline_taskloop_depend for the taskloop that the current task encounters; each value is returned
// once.
ChunkDepend take_chunk_depend(Worker* worker);

// Called before the face makes the plan's task i: sets the dependences of the next task. Returns the thread's worker.
inline Worker* depend_chunk(const ChunkDepend& depend, const TaskloopPlan& plan, uint64_t i) {
  if (depend.call != nullptr) depend.call(plan.first(i), plan.count(i), depend.argument);
  return this_worker();
}

// `value` is from the clause; without a clause, `threads` decides.
TaskloopPlan taskloop_plan(uint64_t iterations, TaskloopClause clause, uint64_t value, bool strict, int threads);

}  // namespace marline
