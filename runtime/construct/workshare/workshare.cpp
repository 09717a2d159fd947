// SPDX-License-Identifier: Apache-2.0
//
// The ring of worksharing slots. A thread that is kWorkshares constructs ahead of the slowest thread is suspended until
// the slot becomes free, or until the slowest thread leaves a cancelled region.
#include "construct/workshare/workshare.hpp"

#include "base/check.hpp"
#include "config/options.hpp"
#include "construct/sync/cancel.hpp"
#include "exec/team/region_cancellation.hpp"
#include "exec/worker/parking.hpp"

#include <cstdlib>

namespace marline {

namespace {

// Waits until the slot is free (phase `free`). False: the region is cancelled and the slot may never be free, so the
// thread skips this construct and all later ones: in a later construct, another thread may by then wait for an action
// that this thread skips.
[[gnu::noinline]] bool take_slot_unless_cancelled(Member* member, Workshare* shared, uint64_t free) {
  if (member->absence.load(relaxed) != 0) return false;
  Interruption departures = departures_of(member->team);
  bool cancelled = is_region_cancelled(member->team);
  if (cancelled ? shared->phase.load(acquire) >= free : wait_at_least(shared->phase, free, departures)) return true;
  skip_workshares(member);
  return false;
}

}  // namespace

Arrival workshare_enter(Worker* worker, bool may_skip) {
  Member* member = worker->member;
  uint64_t number = member->workshares_entered++;
  Workshare* shared = &member->team->workshares[number % kWorkshares];
  uint64_t free = 2 * (number / kWorkshares);
  if (may_skip && options().cancellation) [[unlikely]] {
    if (!take_slot_unless_cancelled(member, shared, free)) return {nullptr, false};
  } else if (shared->phase.load(acquire) < free) [[unlikely]] {
    wait_at_least(shared->phase, free);
  }
  // acquire pairs with the last leaver's store: the previous use of the fields is over.
  if (shared->phase.load(relaxed) == free && shared->phase.compare_exchange_strong(free, free + 1, acquire, relaxed)) {
    return {shared, true};
  }
  // acquire pairs with workshare_publish: the fields are filled.
  if (shared->ready.load(acquire) <= number) wait_at_least(shared->ready, number + 1);
  return {shared, false};
}

void workshare_publish(Worker* worker, Workshare* shared) {
  advance(shared->ready, worker->member->workshares_entered);
}

void workshare_leave(Worker* worker, Workshare* shared) {
  // acq_rel: the last thread to leave sees every thread's use of the fields.
  if (shared->left.fetch_add(1, acq_rel) + 1 != worker->member->team->size) return;
  std::free(shared->memory);
  shared->memory = nullptr;
  shared->left.store(0, relaxed);
  advance(shared->phase, shared->phase.load(relaxed) + 1);
}

void* workshare_memory(Workshare* shared, size_t bytes) {
  shared->memory = std::calloc(1, bytes);
  if (shared->memory == nullptr) fatal("no memory (%zu bytes) for a worksharing construct", bytes);
  return shared->memory;
}

}  // namespace marline
