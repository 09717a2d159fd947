// SPDX-License-Identifier: Apache-2.0
//
// Progress hooks (marline.h): functions that move asynchronous operations forward. One poller per process at a time.
// While nothing is pending, a poll costs one load. Weak progress: workers poll at task scheduling points and when idle.
// Strong progress: a watchdog thread polls if no worker has polled for MARLINE_WATCHDOG microseconds. MARLINE_PROGRESS
// switches each kind on or off, for studies.
#pragma once

#include "base/atomic.hpp"
#include "base/conditions.hpp"
#include "config/options.hpp"
#include "sched/team.hpp"

struct marline_hook;

namespace marline {

// Operations pending over all hooks, the upper half of g_conditions. Written by progress_add; read, relaxed, at every
// scheduling point.
inline bool progress_pending() {
  const int64_t conditions = g_conditions.load(relaxed);
  return conditions != 0 && condition::operations(conditions) > 0;
}
// seq_cst: for the last look before a sleep.
inline int64_t progress_operations() { return condition::operations(g_conditions.load(seq_cst)); }

// Called by a worker without work: calls the hooks that have operations pending, unless another thread is polling.
// Returns how many operations the hooks found finished.
int progress_when_idle(Worker* worker);

void progress_paced(Worker* worker);

// At a task scheduling point: polls now and then.
inline void progress_at_scheduling_point(Worker* worker) {
  if (progress_pending()) [[unlikely]] {
    progress_paced(worker);
  }
}

// Called by a worker that has only yielding tasks. That is idleness, too: the tasks may wait for something that a poll
// completes. If scheduling points poll, the taskyield has polled already.
inline void progress_when_all_yield(Worker* worker) {
  if (progress_pending() && !options().progress_points) [[unlikely]] {
    progress_when_idle(worker);
  }
}

// The role of the one idle worker that polls while operations are pending (sched/idle_poller.hpp). True: the caller has
// the role (from now on or already) and must not sleep without a time limit.
bool progress_take_idle_role(Worker* worker);
bool progress_drop_idle_role(Worker* worker);  // whether it had the role

// Whether operations are pending and the role is free, so that the worker could take it: part of the last look before a
// sleep.
bool progress_wants_poller(Worker* worker);

// `keep`: the runtime knows a thread of the program, so the watchdog may stay. False: the watchdog must not keep the
// process alive. It ends as soon as nothing is pending, and the next operation starts another watchdog.
void progress_keep_watchdog(bool keep);

// Whether all pending operations belong to hooks that allow their poller to rest (devices.h).
bool progress_may_rest();
void progress_let_rest(marline_hook* hook);

// For marline.h.
marline_hook* progress_register(const char* name, int (*poll)(void*), void* arg);
void progress_unregister(marline_hook* hook);
void progress_add(marline_hook* hook, int n);

}  // namespace marline
