// SPDX-License-Identifier: Apache-2.0
//
// single: construct number n of a region goes to the thread that moves Team::singles from n to n + 1.
#include "construct/single.hpp"

#include "exec/announce.hpp"
#include "exec/barrier.hpp"

namespace marline {

namespace {

void announce(Worker* worker, bool executes, SingleEnd end, const void* codeptr) {
  if (!tool::on(tool::event::kWork)) return;
  if (!executes) {
    announce_work(worker, tool::Work::kSingleOther, tool::Endpoint::kBegin, 1, codeptr);
    announce_work(worker, tool::Work::kSingleOther, tool::Endpoint::kEnd, 1, codeptr);
  } else if (end == SingleEnd::kTold) {
    announce_work(worker, tool::Work::kSingleExecutor, tool::Endpoint::kBegin, 1, codeptr);
  } else {
    announce_work_without_end(worker, tool::Work::kSingleExecutor, codeptr);
  }
}

}  // namespace

bool single_enter(Worker* worker, SingleEnd end, const void* codeptr) {
  Member* member = worker->member;
  Atomic<uint64_t>& taken = member->team->singles;
  uint64_t number = member->singles_entered++;
  // relaxed: the block's effects travel by the barrier behind the construct, or by the program's own means (nowait).
  bool executes = taken.load(relaxed) == number && taken.compare_exchange_strong(number, number + 1, relaxed);
  announce(worker, executes, end, codeptr);
  return executes;
}

void single_leave(Worker* worker, const void* codeptr) {
  announce_work(worker, tool::Work::kSingleExecutor, tool::Endpoint::kEnd, 1, codeptr);
}

void single_publish(Worker* worker, void* data, const void* codeptr) {
  Team* team = worker->member->team;
  team->copyprivate = data;
  team_barrier(worker, tool::SyncRegion::kBarrierImplementation, codeptr);
  // In a cancelled region the construct's own barrier does not wait. The others arrive anywhere once they have copied.
  if (team->another_round) [[unlikely]] {
    team_barrier(this_worker(), tool::SyncRegion::kBarrierImplementation, codeptr);
  }
}

void* single_receive(Worker* worker, const void* codeptr) {
  Team* team = worker->member->team;
  team_barrier(worker, tool::SyncRegion::kBarrierImplementation, codeptr);
  return team->copyprivate;
}

}  // namespace marline
