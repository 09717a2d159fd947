// SPDX-License-Identifier: Apache-2.0
//
// Sleep and wake: the slow halves of sched/idle.hpp, which states the protocol.
#include "sched/idle.hpp"

#include <bit>

namespace marline {

namespace {

uint64_t bit_of(const Member* member) { return uint64_t{1} << (member->index % 64); }
Atomic<uint64_t>& word_of(Member* member) { return member->team->sleepers[member->index / 64]; }

void announce(Worker* worker) {
  worker->announced.store(1, seq_cst);  // step 1
  for (Member* m = worker->memberships; m != nullptr; m = m->next_membership) word_of(m).fetch_or(bit_of(m), seq_cst);
}

void withdraw(Worker* worker) {
  worker->announced.store(0, relaxed);  // a waker that still sees 1 leaves a notification: one early return, no harm
  for (Member* m = worker->memberships; m != nullptr; m = m->next_membership) {
    if (word_of(m).load(relaxed) & bit_of(m)) word_of(m).fetch_and(~bit_of(m), relaxed);
  }
}

// Clears the lowest set bit of `word` among `wanted` and returns its number, or -1 if there is none.
int claim_bit(Atomic<uint64_t>& word, uint64_t wanted) {
  uint64_t mask = word.load(seq_cst);  // step b
  while ((mask & wanted) != 0) {
    uint64_t bit = mask & wanted & -(mask & wanted);
    if (word.compare_exchange_weak(mask, mask & ~bit, seq_cst)) return std::countr_zero(bit);
  }
  return -1;
}

}  // namespace

bool wake_one_of(Team* team, const uint64_t* members) {
  for (int i = 0; i * 64 < team->size; ++i) {
    int bit = claim_bit(team->sleepers[i], members != nullptr ? members[i] : ~uint64_t{0});
    if (bit < 0) continue;
    if (Worker* worker = team->members[i * 64 + bit].worker) worker->parker.unpark();
    return true;
  }
  return false;
}

void wake_all(Team* team) {
  for (int i = 0; i * 64 < team->size; ++i) {
    if (team->sleepers[i].load(seq_cst) == 0) continue;
    uint64_t mask = team->sleepers[i].exchange(0, seq_cst);
    for (; mask != 0; mask &= mask - 1) team->members[i * 64 + std::countr_zero(mask)].worker->parker.unpark();
  }
}

void sleep_unless(Worker* worker, bool (*has_work)(Worker*, void*), void* context) {
  announce(worker);
  if (!has_work(worker, context)) worker->parker.park();  // steps 2 and 3
  withdraw(worker);
}

}  // namespace marline
