// SPDX-License-Identifier: Apache-2.0
//
// single: construct number n of a region goes to the thread that moves Team::singles from n to n + 1.
#include "construct/single.hpp"

#include "exec/barrier.hpp"

namespace marline {

bool single_enter(Worker* worker) {
  Member* member = worker->member;
  Atomic<uint64_t>& taken = member->team->singles;
  uint64_t number = member->singles_entered++;
  // relaxed: the block's effects travel by the barrier behind the construct, or by the program's own means (nowait).
  return taken.load(relaxed) == number && taken.compare_exchange_strong(number, number + 1, relaxed);
}

void single_publish(Worker* worker, void* data) {
  worker->member->team->copyprivate = data;
  team_barrier(worker, tool::SyncRegion::kBarrierImplicitWorkshare);
}

void* single_receive(Worker* worker) {
  Team* team = worker->member->team;
  team_barrier(worker, tool::SyncRegion::kBarrierImplicitWorkshare);
  return team->copyprivate;
}

}  // namespace marline
