// SPDX-License-Identifier: Apache-2.0
//
// Reductions: a team of one needs no lock, but the way must be the one that does not pay for atomics.
#include "construct/reduction.hpp"

#include "tool/tool.hpp"

namespace marline {

namespace {

ReductionWay way(const Worker* worker, bool atomic_possible) {
  return atomic_possible && worker->member->team->size > 1 ? ReductionWay::kAtomic : ReductionWay::kUnderLock;
}

void announce(Worker* worker, tool::Endpoint endpoint, const void* codeptr) {
  if (!tool::on(tool::event::kReduction)) return;
  tool::reduction(endpoint, &worker->member->team->tool_data, &worker->task->tool_data, codeptr);
}

}  // namespace

ReductionWay reduction_begin(Worker* worker, bool atomic_possible, LockWord& lock, const void* codeptr) {
  ReductionWay chosen = way(worker, atomic_possible);
  if (chosen != ReductionWay::kUnderLock) return chosen;
  if (worker->member->team->size > 1) lock_acquire(lock);
  announce(this_worker(), tool::Endpoint::kBegin, codeptr);
  return chosen;
}

void reduction_end(Worker* worker, bool atomic_possible, LockWord& lock, const void* codeptr) {
  if (way(worker, atomic_possible) != ReductionWay::kUnderLock) return;
  announce(worker, tool::Endpoint::kEnd, codeptr);
  if (worker->member->team->size > 1) lock_release(lock);
}

}  // namespace marline
