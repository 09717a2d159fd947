// SPDX-License-Identifier: Apache-2.0
//
// Reductions: a team of one needs no lock, but the way must be the one that does not pay for atomics.
#include "construct/reduction.hpp"

namespace marline {

namespace {

ReductionWay way(const Worker* worker, bool atomic_possible) {
  return atomic_possible && worker->member->team->size > 1 ? ReductionWay::kAtomic : ReductionWay::kUnderLock;
}

}  // namespace

ReductionWay reduction_begin(Worker* worker, bool atomic_possible, LockWord& lock) {
  ReductionWay chosen = way(worker, atomic_possible);
  if (chosen == ReductionWay::kUnderLock && worker->member->team->size > 1) lock_acquire(lock);
  return chosen;
}

void reduction_end(Worker* worker, bool atomic_possible, LockWord& lock) {
  if (way(worker, atomic_possible) == ReductionWay::kUnderLock && worker->member->team->size > 1) lock_release(lock);
}

}  // namespace marline
