// SPDX-License-Identifier: Apache-2.0
//
// How the omp_* routines find the calling task's worker, team and control variables. Used by the calling thread; no
// result may be kept across a suspension.
#pragma once

#include "sched/team.hpp"
#include "task/own_icvs.hpp"

#include <climits>

namespace marline {

// As many as there are threads for.
inline constexpr int kSupportedActiveLevels = INT_MAX;

inline Member* current_member() { return this_worker()->member; }
inline const Icvs& current_icvs() { return *this_worker()->task->icvs; }

inline Icvs& own_current_icvs() {
  Worker* worker = this_worker();
  return writable_icvs(worker->task, worker->pool);
}

// The place of the current task's ancestor in the region at `level`; null if there is no such region around.
inline const Member* ancestor_member(int level) {
  const Member* member = current_member();
  if (level < 0 || level > member->team->level) return nullptr;
  while (member->team->level > level) member = member->team->parent_member;
  return member;
}

}  // namespace marline
