// SPDX-License-Identifier: Apache-2.0
//
// single: construct number n of a region is run by the thread that moves Team::singles from n to n + 1. copyprivate
// uses one of two slots, by the last bit of the number. A thread may publish for the next construct while another
// thread still reads for this one, but not while one still reads for the construct before this one, because each
// copyprivate begins with a barrier.
#include "construct/workshare/single.hpp"

#include "exec/team/barrier.hpp"
#include "exec/worker/announce.hpp"

namespace marline {

namespace {

void announce(Worker* worker, bool executes, SingleEnd end, const void* codeptr) {
  if (!tool::on(tool::event::kWork)) return;
  if (!executes) {
    announce_work(worker, tool::Work::kSingleOther, tool::Endpoint::kBegin, 1, codeptr);
    announce_work(worker, tool::Work::kSingleOther, tool::Endpoint::kEnd, 1, codeptr);
  } else if (end == SingleEnd::kReported) {
    announce_work(worker, tool::Work::kSingleExecutor, tool::Endpoint::kBegin, 1, codeptr);
  } else {
    announce_work_without_end(worker, tool::Work::kSingleExecutor, codeptr);
  }
}

void meet(Worker* worker, const void* codeptr) {
  team_barrier(worker, tool::SyncRegion::kBarrierImplementation, codeptr);
  Member* member = this_worker()->member;
  if (member->team->another_round) [[unlikely]] {
    member->copies = true;
  }
}

}  // namespace

bool single_enter(Worker* worker, SingleEnd end, const void* codeptr) {
  Member* member = worker->member;
  Atomic<uint64_t>& taken = member->team->singles;
  uint64_t number = member->singles_entered++;
  bool executes = true;
  if (member->team->size == 1) {
    taken.store(number + 1, relaxed);
  } else {
    // relaxed: the block's effects become visible by the barrier after the construct, or by the program's own means
    // (nowait).
    // A thread that has lost the last construct looks first, for it may be behind the others by more, and need not take
    // the line from them. One that has won it is likely to be the first again: a look would make two transfers of one.
    const bool may_win = member->won_single || taken.load(relaxed) == number;
    executes = may_win && taken.compare_exchange_strong(number, number + 1, relaxed);
    member->won_single = executes;
  }
  announce(worker, executes, end, codeptr);
  return executes;
}

void single_leave(Worker* worker, const void* codeptr) {
  announce_work(worker, tool::Work::kSingleExecutor, tool::Endpoint::kEnd, 1, codeptr);
}

void single_publish(Worker* worker, void* data, const void* codeptr) {
  const Member* member = worker->member;
  member->team->copyprivate[(member->singles_entered - 1) % 2] = data;
  meet(worker, codeptr);
}

void* single_receive(Worker* worker, const void* codeptr) {
  meet(worker, codeptr);
  const Member* member = this_worker()->member;
  return member->team->copyprivate[(member->singles_entered - 1) % 2];
}

void single_end_copying(Worker* worker, const void* codeptr) {
  worker->member->copies = false;
  team_barrier(worker, tool::SyncRegion::kBarrierImplementation, codeptr);
}

}  // namespace marline
