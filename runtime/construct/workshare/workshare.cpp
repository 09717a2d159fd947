// SPDX-License-Identifier: Apache-2.0
//
// The shared parts of worksharing constructs: the first thread to come claims one, fills it and publishes it.
#include "construct/workshare/workshare.hpp"

#include "base/check.hpp"
#include "exec/team/workshare_blocks.hpp"
#include "exec/worker/parking.hpp"

#include <cstdlib>

namespace marline {

Arrival workshare_enter(Worker* worker) {
  Member* member = worker->member;
  const uint64_t number = member->workshares_entered++;
  if (number % kWorkshares == 0) member->block = enter_next_block(member);
  Workshare* shared = &member->block->shares[number % kWorkshares];
  // relaxed: the thread has got the block under Team::blocks.lock, after all threads had passed its use before. In a
  // team of one thread it is the same thread.
  uint64_t before = shared->claimed.load(relaxed);
  if (before != number && shared->claimed.compare_exchange_strong(before, number, relaxed, relaxed)) {
    return {shared, true};
  }
  // acquire pairs with workshare_publish: the fields are filled.
  if (shared->ready.load(acquire) < number) wait_at_least(shared->ready, number);
  return {shared, false};
}

void keep_two_together(Worker* worker) {
  uint64_t& next = worker->member->workshares_entered;
  if (next % kWorkshares == kWorkshares - 1) ++next;
}

void workshare_publish(Worker* worker, Workshare* shared) {
  advance(shared->ready, worker->member->workshares_entered - 1);
}

void workshare_leave(Worker* worker, Workshare* shared) {
  if (shared->memory == nullptr) return;
  // acq_rel: the last thread to leave sees every thread's use of the memory.
  if (shared->left.fetch_add(1, acq_rel) + 1 != worker->member->team->size) return;
  std::free(shared->memory);
  shared->memory = nullptr;
  shared->left.store(0, relaxed);
}

void* workshare_memory(Workshare* shared, size_t bytes) {
  shared->memory = std::calloc(1, bytes);
  if (shared->memory == nullptr) fatal("no memory (%zu bytes) for a worksharing construct", bytes);
  return shared->memory;
}

}  // namespace marline
