// SPDX-License-Identifier: Apache-2.0
//
// cancel and cancellation point: which state a kind stands for, what a thread leaves behind, and what tools hear. The
// thread that encounters the construct.
#include "construct/cancel.hpp"

#include "config/options.hpp"
#include "exec/barrier.hpp"
#include "exec/cancellation.hpp"
#include "exec/region_cancellation.hpp"
#include "exec/suspend.hpp"

#include <sched.h>

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

// The current task goes to the end of what is cancelled.
void leave(Worker* worker, CancelKind kind, int how, const void* codeptr) {
  // release pairs with the turn of an ordered loop that is passed on for the thread (construct/loop.cpp).
  if (kind == CancelKind::kParallel) worker->member->left_region.store(1, release);
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
  }
  // Clang calls this also on the way from a cancellation point, which tools have heard of.
  if (member->left_region.load(relaxed) == 0) {
    leave(worker, CancelKind::kParallel, tool::cancel_bits::kDetected, codeptr);
  }
  return true;
}

void let_others_run() {
  yield_task();
  sched_yield();
}

bool wait_unless_cancelled(const Team* team, const Atomic<uint64_t>& word, uint64_t value) {
  while (word.load(acquire) < value) {  // acquire pairs with the store in advance (construct/parking.cpp)
    if (is_region_cancelled(team)) return false;
    let_others_run();
  }
  return true;
}

}  // namespace marline
