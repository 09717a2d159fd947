// SPDX-License-Identifier: Apache-2.0
//
// cancel and cancellation point: the state of each kind, how a thread leaves a cancelled construct, and the events for
// tools. Run by the thread that encounters the construct.
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

// seq_cst, also in stays_away. A thread that changes a word for which others wait, to a value that only this member
// would change further, reads the member's `absent` after the change. Either it sees that the member stays away, or
// the interruption comes after the change, and the waiting threads see the change.
void stay_away(Member* member) {
  member->absent.store(true, seq_cst);
  interrupt(member->team->departures);
}

// The current task leaves the cancelled construct.
void leave(Worker* worker, CancelKind kind, int how, const void* codeptr) {
  if (kind == CancelKind::kParallel) stay_away(worker->member);
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
  // If a region is cancelled, its tasks are cancelled, too.
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
  // In a cancelled region the thread does not wait for the others here: they may be on their way to the region's end,
  // where they meet.
  if (!is_region_cancelled(member->team)) {
    team_barrier(worker, kind, codeptr);
    worker = this_worker();
    if (!member->team->another_round) return false;
  } else if (member->copies) {  // copyprivate is not over: other threads copy this thread's data, or copy the same data
                                // as it
    member->copies = false;
    team_barrier(worker, kind, codeptr);
    worker = this_worker();
  }
  // Clang also calls this on the way from a cancellation point, of which tools have been notified.
  if (!member->absent.load(relaxed)) leave(worker, CancelKind::kParallel, tool::cancel_bits::kDetected, codeptr);
  return true;
}

// acquire pairs with interrupt: a thread that sees a new count sees the reason.
Interruption departures_of(const Team* team) { return {&team->departures, team->departures.load(acquire)}; }

bool stays_away(const Member& member) { return member.absent.load(seq_cst); }

}  // namespace marline
