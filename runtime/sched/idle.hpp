// SPDX-License-Identifier: Apache-2.0
//
// Sleep and wake. A worker that finds no work spins for a bounded time, then sleeps on its parker.
//
// The protocol and why no wake-up is lost (model: tests/model/sleep.pml):
//   sleeper   1. announce: set its bit in every team it is a member of, and Worker::announced     (seq_cst)
//             2. look once more at everything that could give it work                            (seq_cst loads)
//             3. nothing: park. In any case withdraw: clear the bits
//   pusher    a. make the work visible: Deque::push, TaskStack::push, the barrier's epoch          (seq_cst)
//             b. read the sleepers' mask (or `announced`); clear a bit it finds set, unpark that worker
// 1 and a are ordered before 2 and b in the single total order of seq_cst operations, so either the sleeper sees the
// work in 2, or the pusher sees the sleeper in b. With acquire and release only, both could miss each other.
//
// Where threads outnumber cores, a woken worker does not run at once, and each wake-up takes the pusher as long as many
// short tasks. So there a pusher wakes no other worker before the woken one has looked for work (Team::wakes_one). That
// one withdraws first, then looks, and wakes the next one if there is more than it takes. So a pusher that sees
// `wakes_one` set has made its work visible before that look. The woken worker may be bound to a core that another
// thread has, so the mark counts for a short time only.
//
// Reach. Member 0 of a nested region's team (docs/design/nested-teams.md) runs tasks of the surrounding teams only
// while all other members of its team sleep. It announces itself, and looks for work, only in the teams whose tasks it
// may run: its reach. When other members fall asleep its reach grows, and the last of them wakes it. By the argument
// above, with the other members' bits in the place of the work, either member 0 sees these bits in 2 or it is seen in
// b. If it gets a wake-up for a team that is no longer in its reach, it passes the wake-up on
// (WorkerNesting::must_wake). A worker does not announce itself in a team out of its reach, so it gets such a wake-up
// at most once.
#pragma once

#include "sched/team.hpp"

namespace marline {

// Whether all members but number 0 sleep, are about to sleep, or are awake without any work (the idle poller,
// sched/idle_poller.hpp; WorkerNesting::polls_in_turn).
bool others_sleep(const Team* team);

// Called when the worker has announced that it sleeps (seq_cst): wakes each member 0 with a reach that grows by that.
void notify_primaries(const Worker* worker);

// Whether the worker with this Member must not work for the teams around the Member's team.
inline bool bounds_reach(const Member* place) {
  return place->index == 0 && place->team->nesting.bounds_reach.load(relaxed) && !others_sleep(place->team);
}

// The worker's next Member outwards within its reach; start with Worker::memberships.
inline Member* next_in_reach(const Member* place) { return bounds_reach(place) ? nullptr : place->next_membership; }

// Wakes one sleeping member of a set (bits as in Team::sleepers; null: all members). False: none of them sleeps.
bool wake_one_of(Team* team, const uint64_t* members);

// Wakes one sleeping member, unless threads outnumber cores and another one has been woken and not looked for work yet.
void wake_sparingly(Team* team);

// Whether a member sleeps. The team may belong to another region by now, with another size: so this looks at all
// members that the team has room for.
inline bool any_sleeps(const Team* team) {
  int words = (team->capacity + 63) / 64;
  for (int i = 0; i < words; ++i) {
    if (team->sleepers[i].load(seq_cst) != 0) [[unlikely]] {
      return true;
    }
  }
  return false;
}

// Wakes one sleeping member, if any, perhaps in vain: by now the work may be done. Called after a seq_cst operation has
// made work for any member visible.
inline void wake_one(Team* team) {
  if (any_sleeps(team)) wake_one_of(team, nullptr);
}

// The same for a task in a queue of the team.
inline void wake_for_task(Team* team) {
  if (any_sleeps(team)) wake_sparingly(team);
}

// Wakes every sleeping member (barrier release).
void wake_all(Team* team);

// Wakes this worker if it sleeps or is about to sleep. Called after work for it was made visible.
inline void wake_worker(Worker* worker) {
  if (worker->announced.load(seq_cst) != 0) worker->parker.unpark();
}

inline constexpr uint64_t kNoLimit = ~uint64_t{0};

// Waits for a wake-up, for at most `limit` nanoseconds, unless `has_work(worker, context)` returns true. `crowded`:
// threads outnumber cores. Owner only.
void sleep_unless(Worker* worker, bool (*has_work)(Worker*, void*), void* context, bool crowded,
                  uint64_t limit = kNoLimit);

// The same for a worker that leaves the tasks in sight to others: a push does not wake it, the end of the barrier and
// a task in its inbox do.
void rest_unless(Worker* worker, bool (*has_work)(Worker*, void*), void* context, uint64_t limit);

}  // namespace marline
