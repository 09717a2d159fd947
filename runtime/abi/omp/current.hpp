// SPDX-License-Identifier: Apache-2.0
//
// How the omp_* routines find the calling task's worker, team and control variables. Used by the calling thread; no
// result may be kept across a suspension.
//
// Inquiry routines are called by signal handlers (sampling profilers), at any instruction of any thread: when it starts
// or ends, between two regions, between two tasks, or when the runtime has never seen it. So they take no lock, make no
// worker of a thread, and expect neither a member nor a task: a thread without a member or a task is an initial thread
// outside of regions. In return, code that changes Worker::task or Worker::member must leave both valid at each
// instruction (fence_signal).
#pragma once

#include "sched/team.hpp"
#include "task/own_icvs.hpp"

#include <algorithm>
#include <climits>
#include <cstdint>

namespace marline {

// The nearest int: what a routine of LLVM's with 8-byte arguments makes of them.
inline int nearest_int(int64_t value) { return static_cast<int>(std::clamp<int64_t>(value, INT_MIN, INT_MAX)); }

// No limit but the number of threads.
inline constexpr int kSupportedActiveLevels = INT_MAX;

// The member for a thread that is in no team: number 0 of a team of one.
const Member* outside_member();

inline const Member* current_member() {
  const Worker* worker = this_worker_or_null();
  const Member* member = worker != nullptr ? worker->member : nullptr;
  return member != nullptr ? member : outside_member();
}

inline const Task* current_task_or_null() {
  const Worker* worker = this_worker_or_null();
  return worker != nullptr ? worker->task : nullptr;
}

// For a thread inside a library's call this is the caller's level, before the callback's first construct as after it.
int current_active_level();

// The control variables of a thread that has no task and is in no team. Inside a library's call they are the caller's,
// which the regions of a callback will have (exec/team/callback.cpp).
Icvs outside_icvs();

// Returns read(icvs) for the control variables of the current task or, while the thread looks for a task, of its
// implicit task.
template <class Read>
auto with_current_icvs(Read read) {
  const Worker* worker = this_worker_or_null();
  const Task* task = worker != nullptr ? worker->task : nullptr;
  if (task != nullptr) [[likely]] {
    return read(*task->icvs);
  }
  const Member* member = worker != nullptr ? worker->member : nullptr;
  return member != nullptr ? read(*member->implicit_task.icvs) : read(outside_icvs());
}

inline Icvs& own_current_icvs() {
  Worker* worker = this_worker();
  return writable_icvs(worker->task, worker->pool);
}

// The current task's ancestor in the region at `level`, as a member of that region's team; null if there is no such
// enclosing region.
inline const Member* ancestor_member(int level) {
  const Member* member = current_member();
  if (level < 0 || level > member->team->level) return nullptr;
  while (member != nullptr && member->team->level > level) member = member->team->parent_member;
  return member;
}

}  // namespace marline
