// SPDX-License-Identifier: Apache-2.0
//
// The team barrier. A member arrives when its implicit task is at the barrier and the subtree of explicit tasks below
// it has ended. A task is always in the subtree of some implicit task, so when all members have arrived no task of the
// team is left, without any counter that all tasks share.
#include "exec/team/barrier.hpp"

#include "config/options.hpp"
#include "exec/team/region_cancellation.hpp"
#include "exec/worker/announce.hpp"
#include "exec/worker/completion.hpp"
#include "exec/worker/frames.hpp"
#include "exec/worker/worker.hpp"
#include "sched/held.hpp"
#include "sched/idle.hpp"
#include "tool/target_observer.hpp"

namespace marline {

namespace {

constexpr int kFanIn = 4;
constexpr int kTreeFrom = 16;  // threads; below, one counter costs less than the levels of a tree

bool released(void* context) {
  auto* member = static_cast<Member*>(context);
  // acquire pairs with release_all; seq_cst: sched/idle.hpp
  return member->team->epoch.load(seq_cst) != member->barrier_epoch;
}

bool uses_tree(const Team* team) {
  BarrierKind kind = options().barrier;
  return kind == BarrierKind::kTree || (kind == BarrierKind::kAuto && team->size >= kTreeFrom);
}

void release_all(Team* team) {
  // relaxed: a member that cancels does so before it arrives.
  if (team->cancelled.load(relaxed) != 0) [[unlikely]] {
    settle_cancellation(team);
  }
  team->epoch.fetch_add(1, seq_cst);
  wake_all(team);
}

// Counts one arrival. True for the last of `expected` members, which resets the counter for the next barrier.
bool last_of(Atomic<int32_t>& arrived, int expected) {
  // acq_rel: the last member sees what all members did before they arrived.
  if (arrived.fetch_add(1, acq_rel) + 1 != expected) return false;
  arrived.store(0, relaxed);  // the next arrival comes after the release
  return true;
}

void climb_tree(Team* team, int index) {
  int offset = 0;
  for (int width = team->size; width > 1;) {
    int parent = index / kFanIn;
    int children = width - parent * kFanIn < kFanIn ? width - parent * kFanIn : kFanIn;
    if (!last_of(team->tree[offset + parent].arrived, children)) return;
    int nodes = (width + kFanIn - 1) / kFanIn;
    offset += nodes;
    width = nodes;
    index = parent;
  }
  release_all(team);
}

ompt::State state_of(tool::SyncRegion kind) {
  switch (kind) {
    case tool::SyncRegion::kBarrierExplicit: return ompt::State::kWaitBarrierExplicit;
    case tool::SyncRegion::kBarrierImplicitWorkshare: return ompt::State::kWaitBarrierImplicitWorkshare;
    case tool::SyncRegion::kBarrierImplicitParallel: return ompt::State::kWaitBarrierImplicitParallel;
    case tool::SyncRegion::kBarrierTeams: return ompt::State::kWaitBarrierTeams;
    default: return ompt::State::kWaitBarrierImplementation;
  }
}

// At the end of the barrier that ends a region, the team may have begun the next region: no field of the old region is
// accessed then, and its data is null (OpenMP 5.2, section 19.5.2.12).
[[gnu::noinline]] void announce_slowly(tool::Endpoint endpoint, Worker* worker, Member* member, tool::SyncRegion kind,
                                       const void* codeptr) {
  bool begins = endpoint == tool::Endpoint::kBegin;
  bool of_region = kind == tool::SyncRegion::kBarrierImplicitParallel;
  if (begins) {
    close_open_work(worker);
    if (of_region) {
      set_exit_frame(&member->frame, nullptr);  // the task's code has ended
      member->is_leaving = member->index != 0;
    } else {
      set_enter_frame(&member->frame, in_callers_frame());
    }
    member->region_codeptr = member->index == 0 ? member->team->tool_codeptr : nullptr;
  } else {
    end_wait(worker);
  }
  uint64_t* region = of_region && !begins ? nullptr : &member->team->tool_data;
  if (of_region && member->implicit_task.parent == nullptr) kind = tool::SyncRegion::kBarrierTeams;
  tool::sync_wait_region(kind, endpoint, region, &member->implicit_task.tool_data,
                         of_region ? member->region_codeptr : codeptr);
  if (begins) {
    begin_wait(worker, state_of(kind), nullptr);
  } else {
    set_enter_frame(&member->frame, nullptr);
  }
}

void announce(tool::Endpoint endpoint, Worker* worker, Member* member, tool::SyncRegion kind, const void* codeptr) {
  if (tool::present()) [[unlikely]] {
    announce_slowly(endpoint, worker, member, kind, codeptr);
  }
}

// The team is one thread without tasks, so there is nothing to wait for.
bool is_nothing_to_do(Team* team, const Task* task) {
  return team->size == 1 && has_no_children(task) && team->cancelled.load(relaxed) == 0;
}

// Arrives, and waits until all members have.
[[gnu::always_inline]] inline void pass(Worker* worker, Member* member, AtBarrier where) {
  using namespace children_word;
  Task* task = &member->implicit_task;
  if (is_nothing_to_do(member->team, task)) return;
  tool::report_wait(MARLINE_WAIT_BARRIER);
  flush_reports(worker);
  release_held(worker, nullptr);
  member->at_barrier = where;
  member->barrier_epoch = member->team->epoch.load(relaxed);  // no thread can change it before this member arrives
  if (has_no_children(task)) {
    barrier_arrive(member);
  } else {
    uint64_t added = task->created * kLeaf + kWaitingForSubtree;
    uint64_t now = task->children.fetch_add(added, acq_rel) + added;
    if (alive(now) == 0) barrier_arrive(member);
  }
  work_until(released, member);
  member->at_barrier = AtBarrier::kNot;
  task->children.store(0, relaxed);
  task->created = 0;
}

// Waits at the end of a cancelled region until all members have come to it. No member begins the next region before all
// have seen that this region has no other round.
[[gnu::noinline]] void pass_further_rounds(Worker* worker, Member* member) {
  while (member->team->another_round) pass(worker, member, AtBarrier::kEnd);
}

}  // namespace

void barrier_arrive(Member* member) {
  Team* team = member->team;
  if (uses_tree(team)) {
    climb_tree(team, member->index);
  } else if (last_of(team->arrived, team->size)) {
    release_all(team);
  }
}

void team_barrier(Worker* worker, tool::SyncRegion kind, const void* codeptr) {
  Member* member = worker->member;
  announce(tool::Endpoint::kBegin, worker, member, kind, codeptr);
  pass(worker, member, static_cast<AtBarrier>(kind));
  if (member->team->another_round && kind == tool::SyncRegion::kBarrierImplicitParallel) [[unlikely]] {
    pass_further_rounds(worker, member);
  }
  announce(tool::Endpoint::kEnd, worker, member, kind, codeptr);
}

}  // namespace marline
