// SPDX-License-Identifier: Apache-2.0
//
// Sleep and wake: the slow halves of sched/idle.hpp, which states the protocol.
#include "sched/idle.hpp"

#include "base/clock.hpp"
#include "sched/idle_poller.hpp"

#include <bit>

namespace marline {

namespace {

uint64_t bit_of(const Member* member) { return uint64_t{1} << (member->index % 64); }
Atomic<uint64_t>& word_of(Member* member) { return member->team->sleepers[member->index / 64]; }

// Step 1 of the protocol in idle.hpp. Returns the worker's first Member out of its reach, where the worker does not
// announce itself; null: all are within its reach.
const Member* announce(Worker* worker, bool crowded) {
  worker->announced.store(1, seq_cst);
  for (Member* m = worker->memberships; m != nullptr; m = m->next_membership) {
    m->team->crowded.store(crowded, relaxed);
    word_of(m).fetch_or(bit_of(m), seq_cst);
    if (bounds_reach(m)) return m->next_membership;
  }
  return nullptr;
}

const Member* first_out_of_reach(const Worker* worker) {
  const Member* m = worker->memberships;
  while (m != nullptr && !bounds_reach(m)) m = m->next_membership;
  return m != nullptr ? m->next_membership : nullptr;
}

// Clears the member's bit. Returns whether it was still set. If not, another thread has claimed the bit to wake this
// worker.
bool take_back(Member* m) {
  // acquire: pairs with the claim. The mark that its thread has set before (wake_sparingly) is cleared after this.
  if ((word_of(m).load(acquire) & bit_of(m)) == 0) return false;
  return (word_of(m).fetch_and(~bit_of(m), acquire) & bit_of(m)) != 0;
}

void withdraw(Worker* worker, const Member* end) {
  // A waker that still sees 1 leaves a notification, which makes one sleep return early and does no harm.
  worker->announced.store(0, relaxed);
  bool reach_may_shrink = false;
  for (Member* m = worker->memberships; m != end; m = m->next_membership) {
    if (!take_back(m)) {
      m->team->wakes_one.store(0, seq_cst);  // before the worker looks for work
      if (reach_may_shrink) worker->nesting.must_wake = true;
    }
    if (m->index == 0 && m->team->nesting.bounds_reach.load(relaxed)) reach_may_shrink = true;
  }
}

// Clears the lowest set bit of `word` among `wanted` and returns its number, or -1 if there is none.
int claim_bit(Atomic<uint64_t>& word, uint64_t wanted) {
  uint64_t mask = word.load(seq_cst);  // step b of the protocol in idle.hpp
  while ((mask & wanted) != 0) {
    uint64_t bit = mask & wanted & -(mask & wanted);
    if (word.compare_exchange_weak(mask, mask & ~bit, seq_cst)) return std::countr_zero(bit);
  }
  return -1;
}

// Whether the worker is awake only because it polls, or because several frames wait in place on it.
bool only_waits(const Worker* worker) {
  return has_idle_role(worker) || worker->nesting.polls_in_turn.load(seq_cst) != 0;
}

}  // namespace

bool others_sleep(const Team* team) {
  for (int i = 0; i * 64 < team->size; ++i) {
    int members = team->size - i * 64;
    uint64_t others = members >= 64 ? ~uint64_t{0} : (uint64_t{1} << members) - 1;
    if (i == 0) others &= ~uint64_t{1};
    for (uint64_t awake = others & ~team->sleepers[i].load(seq_cst); awake != 0; awake &= awake - 1) {
      if (!only_waits(team->members[i * 64 + std::countr_zero(awake)].worker)) return false;
    }
  }
  return true;
}

void notify_primaries(const Worker* worker) {
  for (const Member* m = worker->memberships; m != nullptr; m = next_in_reach(m)) {
    if (m->index == 0 || !m->team->nesting.bounds_reach.load(relaxed) || !others_sleep(m->team)) continue;
    wake_worker(m->team->members[0].worker);
  }
}

bool wake_one_of(Team* team, const uint64_t* members) {
  for (int i = 0; i * 64 < team->capacity; ++i) {
    int bit = claim_bit(team->sleepers[i], members != nullptr ? members[i] : ~uint64_t{0});
    if (bit < 0) continue;
    if (Worker* worker = team->members[i * 64 + bit].worker) worker->parker.unpark();
    return true;
  }
  return false;
}

void wake_sparingly(Team* team) {
  constexpr uint64_t kCounts = 100'000;  // ns
  const bool crowded = team->crowded.load(relaxed);
  do {
    const uint64_t since = team->wakes_one.load(seq_cst);
    if (since != 0 && cycles() - since < cycles_about(kCounts)) return;
    // Before the claim: the claimed worker clears it later. Without a claim nobody else would.
    if (crowded) team->wakes_one.store(cycles() | 1, seq_cst);
    if (wake_one_of(team, nullptr) || !crowded) return;
    team->wakes_one.store(0, seq_cst);
  } while (any_sleeps(team));  // another pusher may have left its wake-up to this call
}

void wake_all(Team* team) {
  for (int i = 0; i * 64 < team->size; ++i) {
    if ((team->sleepers[i].load(seq_cst) | team->resting[i].load(seq_cst)) == 0) continue;
    uint64_t mask = team->sleepers[i].exchange(0, seq_cst) | team->resting[i].exchange(0, seq_cst);
    for (; mask != 0; mask &= mask - 1) {
      if (Worker* worker = team->members[i * 64 + std::countr_zero(mask)].worker) worker->parker.unpark();
    }
  }
}

void sleep_unless(Worker* worker, bool (*has_work)(Worker*, void*), void* context, bool crowded, uint64_t limit) {
  const Member* end = announce(worker, crowded);
  // Steps 2 and 3 of the protocol in idle.hpp. If the reach has grown since step 1, the worker is not announced there;
  // if it has shrunk, it has not looked everywhere.
  if (!has_work(worker, context) && first_out_of_reach(worker) == end) {
    if (!has_idle_role(worker)) notify_primaries(worker);  // a worker that takes that role has done so
    limit == kNoLimit ? worker->parker.park() : worker->parker.park_for(limit);
  }
  withdraw(worker, end);
}

void rest_unless(Worker* worker, bool (*has_work)(Worker*, void*), void* context, uint64_t limit) {
  worker->announced.store(1, seq_cst);
  for (Member* m = worker->memberships; m != nullptr; m = m->next_membership) {
    m->team->resting[m->index / 64].fetch_or(bit_of(m), seq_cst);
  }
  if (!has_work(worker, context)) worker->parker.park_for(limit);
  worker->announced.store(0, relaxed);
  for (Member* m = worker->memberships; m != nullptr; m = m->next_membership) {
    m->team->resting[m->index / 64].fetch_and(~bit_of(m), relaxed);
  }
}

}  // namespace marline
