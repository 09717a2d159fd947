// SPDX-License-Identifier: Apache-2.0
//
// cancel and cancellation point: the state of each kind, what a thread leaves behind, and the events for tools. Run by
// the thread that encounters the construct.
#include "construct/sync/cancel.hpp"

#include "config/options.hpp"
#include "exec/team/barrier.hpp"
#include "exec/team/region_cancellation.hpp"
#include "exec/worker/cancellation.hpp"

namespace marline {

namespace {

int kind_for_tools(CancelKind kind) {
  using namespace tool::cancel_bits;
  switch (kind) {
    case CancelKind::kParallel: return kParallel;
    case CancelKind::kLoop: return kLoop;
    case CancelKind::kSections: return kSections;
    case CancelKind::kTaskgroup: break;
  }
  return kTaskgroup;
}

// seq_cst, also in stays_away: who changes a word for which others wait, to a value that this member should move on
// from, looks at the member afterwards; so it finds that the member stays away, or those who wait are interrupted after
// the change.
void stay_away(Member* member, uint32_t how) {
  member->absence.store(how, seq_cst);
  interrupt(member->team->departures);
}

// The current task goes to the end of what is cancelled.
void leave(Worker* worker, CancelKind kind, int how, const void* codeptr) {
  if (kind == CancelKind::kParallel) stay_away(worker->member, Member::kLeft);
  if (!tool::present()) return;
  if (kind == CancelKind::kTaskgroup && !worker->task->has(task_flag::kImplicit))
    worker->task->flags |= task_flag::kLeft;
  if (tool::on(tool::event::kCancel)) tool::cancel(&worker->task->tool_data, kind_for_tools(kind) | how, codeptr);
}

void activate(const Worker* worker, CancelKind kind) {
  switch (kind) {
    case CancelKind::kParallel: return cancel_region(worker->member->team);
    case CancelKind::kLoop:
    case CancelKind::kSections: return cancel_workshare(worker->member->team);
    case CancelKind::kTaskgroup: return cancel_group(worker->task);
  }
}

}  // namespace

bool is_cancellation_active(const Worker* worker, CancelKind kind) {
  const Team* team = worker->member->team;
  switch (kind) {
    case CancelKind::kParallel: return is_region_cancelled(team);
    case CancelKind::kLoop:
    case CancelKind::kSections: return is_workshare_cancelled(team);
    case CancelKind::kTaskgroup: break;
  }
  // A region's tasks are cancelled with it.
  return is_region_cancelled(team) || is_group_cancelled(worker->task);
}

bool cancel(Worker* worker, CancelKind kind, const void* codeptr) {
  if (!options().cancellation) return false;
  activate(worker, kind);
  leave(worker, kind, tool::cancel_bits::kActivated, codeptr);
  return true;
}

bool cancellation_point(Worker* worker, CancelKind kind, const void* codeptr) {
  if (!options().cancellation || !is_cancellation_active(worker, kind)) return false;
  leave(worker, kind, tool::cancel_bits::kDetected, codeptr);
  return true;
}

bool cancellable_barrier(Worker* worker, tool::SyncRegion kind, const void* codeptr) {
  Member* member = worker->member;
  // The others are not waited for here: they may be on their way to the region's end, and will be met there.
  if (!is_region_cancelled(member->team)) {
    team_barrier(worker, kind, codeptr);
    worker = this_worker();
    if (!member->team->another_round) return false;
  } else if (member->copies) {  // others do, as well, from this thread's data or with it
    member->copies = false;
    team_barrier(worker, kind, codeptr);
    worker = this_worker();
  }
  // Clang calls this also on the way from a cancellation point, which tools have heard of.
  if (member->absence.load(relaxed) != Member::kLeft) {
    leave(worker, CancelKind::kParallel, tool::cancel_bits::kDetected, codeptr);
  }
  return true;
}

// acquire pairs with interrupt: who sees the count moved on sees why.
Interruption departures_of(const Team* team) { return {&team->departures, team->departures.load(acquire)}; }

void skip_workshares(Member* member) { stay_away(member, Member::kSkips); }

bool stays_away(const Member& member) { return member.absence.load(seq_cst) != 0; }

}  // namespace marline
