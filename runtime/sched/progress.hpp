// SPDX-License-Identifier: Apache-2.0
//
// Progress hooks (marline.h): functions that move asynchronous operations forward. One poller per process at a time.
// While nothing is pending, a poll costs one load. Weak progress: workers poll at task scheduling points and when idle.
// Strong progress: a watchdog thread polls if no worker has polled for MARLINE_WATCHDOG microseconds. MARLINE_PROGRESS
// switches each kind on or off, for studies.
#pragma once

#include "base/atomic.hpp"
#include "config/options.hpp"
#include "sched/team.hpp"

struct marline_hook;

namespace marline {

// Operations pending over all hooks. Written by progress_add; read, relaxed, at every scheduling point.
extern Atomic<int64_t> g_pending_operations;

inline bool progress_pending() { return g_pending_operations.load(relaxed) > 0; }
inline int64_t progress_operations() { return g_pending_operations.load(seq_cst); }  // in the last look before a sleep

// Of a worker that has nothing else to do: calls the hooks that have operations pending, unless another thread is at
// it. Returns how many operations the hooks found finished.
int progress_when_idle(Worker* worker);

void progress_paced(Worker* worker);

// At a task scheduling point: polls now and then.
inline void progress_at_scheduling_point(Worker* worker) {
  if (progress_pending()) [[unlikely]] {
    progress_paced(worker);
  }
}

// Of a worker that has only tasks that yield. That is idleness, too: what they wait for may be what a poll brings.
// Where scheduling points poll, the taskyield has done so.
inline void progress_when_all_yield(Worker* worker) {
  if (progress_pending() && !options().progress_points) [[unlikely]] {
    progress_when_idle(worker);
  }
}

// The role of the one idle worker that polls while operations are pending. True: the caller has it (now or since
// earlier) and must not sleep for good.
bool progress_take_idle_role(Worker* worker);
bool progress_drop_idle_role(Worker* worker);  // whether it had it

// Whether operations are pending and nobody has the role, which the worker could take: part of the last look before
// sleep.
bool progress_wants_poller(Worker* worker);
bool progress_has_idle_role(const Worker* worker);  // seq_cst, as taking it: for others_sleep (sched/idle.hpp)

// Whether there is a thread of the program's that the runtime knows. While there is none, the watchdog must not keep
// the process alive: it ends whenever nothing is pending, and the next operation starts another one.
void progress_keep_watchdog(bool keep);

// Whether all operations that are pending belong to hooks that let who polls for them rest (devices.h).
bool progress_may_rest();
void progress_let_rest(marline_hook* hook);

// marline.h
marline_hook* progress_register(const char* name, int (*poll)(void*), void* arg);
void progress_unregister(marline_hook* hook);
void progress_add(marline_hook* hook, int n);

}  // namespace marline
