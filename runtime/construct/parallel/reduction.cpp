// SPDX-License-Identifier: Apache-2.0
//
// Reductions. A thread that reduces alone uses the compiler's code for a reduction under a lock, which has no atomics,
// but takes no lock. The initial tasks of a league reduce with one another.
#include "construct/parallel/reduction.hpp"

#include "base/sanitizer.hpp"
#include "config/options.hpp"
#include "construct/parallel/teams.hpp"
#include "tool/tool.hpp"

namespace marline {

namespace {

bool beside_others(const Worker* worker) { return worker->member->team->size > 1 || is_beside_other_teams(worker); }

ReductionWay way(const Worker* worker, bool atomic_possible) {
  // Tools are not notified of updates in the compiler's code, so with a tool the lock is used. ThreadSanitizer sees
  // these updates itself; if Archer is notified of a reduction, it makes ThreadSanitizer ignore the thread's other
  // accesses there.
  bool atomic = atomic_possible && (!options().tool_started || tsan_present());
  return atomic && beside_others(worker) ? ReductionWay::kAtomic : ReductionWay::kUnderLock;
}

void announce(Worker* worker, tool::Endpoint endpoint, const void* codeptr) {
  if (!tool::on(tool::event::kReduction)) return;
  tool::reduction(endpoint, &worker->member->team->tool_data, &worker->task->tool_data, codeptr);
}

}  // namespace

ReductionWay reduction_begin(Worker* worker, bool atomic_possible, LockWord& lock, const void* codeptr) {
  ReductionWay chosen = way(worker, atomic_possible);
  if (chosen != ReductionWay::kUnderLock) return chosen;
  if (beside_others(worker)) lock_acquire(lock);
  announce(this_worker(), tool::Endpoint::kBegin, codeptr);
  return chosen;
}

void reduction_end(Worker* worker, bool atomic_possible, LockWord& lock, const void* codeptr) {
  if (way(worker, atomic_possible) != ReductionWay::kUnderLock) return;
  announce(worker, tool::Endpoint::kEnd, codeptr);
  if (beside_others(worker)) lock_release(lock);
}

}  // namespace marline
