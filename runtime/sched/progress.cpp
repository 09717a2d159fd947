// SPDX-License-Identifier: Apache-2.0
//
// Progress hooks: the table of hooks, the one poller at a time, the idle poller's role, the watchdog.
#include "sched/progress.hpp"

#include "base/check.hpp"
#include "base/clock.hpp"
#include "base/futex.hpp"
#include "base/sanitizer.hpp"
#include "base/spin_lock.hpp"
#include "config/options.hpp"
#include "platform/refusal.hpp"
#include "platform/thread.hpp"
#include "sched/idle.hpp"
#include "sched/idle_poller.hpp"
#include "sched/library_call.hpp"

#include <algorithm>

#include <pthread.h>

struct marline_hook {
  const char* name;
  int (*poll)(void*);  // null: the slot is free. Changed under g_poll_lock.
  void* arg;
  marline::Atomic<int64_t> pending;
  marline::Atomic<bool> may_rest;  // set before the first operation is pending; a hint, relaxed
};

namespace marline {

namespace {

constexpr int kHooks = 16;          // libraries that poll; further ones are refused (marline_progress_register)
constexpr uint32_t kPollEvery = 4;  // scheduling points between two polls

// Back-off, only for polls at scheduling points: after kPatience polls in vain, the next poll comes after a pause,
// which doubles each time. The longest pause is short compared with a task that is worth waiting for, and long compared
// with a poll.
constexpr uint32_t kPatience = 16;
constexpr uint64_t kFirstPause = 1000;  // nanoseconds
constexpr uint64_t kLongestPause = 16 * kFirstPause;

marline_hook g_hooks[kHooks];
SpinLock g_poll_lock;            // held by the one poller, and to change the table
uint32_t g_in_vain = 0;          // polls at scheduling points since one found an operation finished; under g_poll_lock
uint64_t g_pause = kFirstPause;  // under g_poll_lock
// Time of the next poll at a scheduling point; 0: poll at once. A hint, relaxed.
Atomic<uint64_t> g_not_before{0};
Atomic<uint32_t> g_polls{0};  // incremented by pollers, wraps; tells the watchdog whether any thread has polled
Atomic<Worker*> g_idle_heir{nullptr};  // the worker that last went to sleep while another worker polled
// Futex: 1 from the watchdog's announcement until another thread wakes it.
Atomic<uint32_t> g_watchdog_asleep{0};

SpinLock g_watchdog_lock;             // taken where the watchdog starts and ends
bool g_watchdog_there = false;        // under g_watchdog_lock
Atomic<uint32_t> g_watchdog_kept{0};  // written under g_watchdog_lock; futex of the watchdog's naps

// Hooks of devices never call the program (devices.h), so they need no library_enter.
int call(marline_hook& hook) {
  if (hook.may_rest.load(relaxed)) return hook.poll(hook.arg);
  LibraryCall library;
  library_enter(&library);
  int finished = hook.poll(hook.arg);
  library_leave(&library);
  return finished;
}

int poll_locked() {
  int finished = 0;
  tsan_acquire(&g_poll_lock);  // hooks run one at a time
  for (marline_hook& hook : g_hooks) {
    if (hook.poll != nullptr && hook.pending.load(relaxed) > 0) finished += call(hook);
  }
  tsan_release(&g_poll_lock);
  g_polls.fetch_add(1, relaxed);
  return finished;
}

void back_off(bool found_something) {
  if (found_something) {
    g_in_vain = 0;
    g_pause = kFirstPause;
    g_not_before.store(0, relaxed);
  } else if (++g_in_vain > kPatience) {
    g_not_before.store(nanoseconds_now() + g_pause, relaxed);
    g_pause = std::min(2 * g_pause, kLongestPause);
  }
}

int poll(Worker* worker, bool paced) {
  if (!progress_pending() || is_called_back(worker) || !g_poll_lock.try_lock()) return 0;
  if (worker != nullptr) worker->context.in_hook = true;
  int finished = poll_locked();
  if (paced || finished > 0) back_off(finished > 0);
  if (worker != nullptr) worker->context.in_hook = false;
  g_poll_lock.unlock();
  return finished;
}

// A thread that posts the first operation then calls start_watchdog. If it posts before the check here, the check sees
// the operation; if after, start_watchdog starts another watchdog.
bool watchdog_ends() {
  Guard<SpinLock> guard(g_watchdog_lock);
  if (g_watchdog_kept.load(relaxed) != 0 || progress_pending()) return false;
  g_watchdog_there = false;
  return true;
}

// How long the watchdog naps. If processes share cores, no thread of this process polls while other processes use the
// cores. A watchdog that wakes then takes a core from a process that computes. So its naps grow while its polls find
// nothing. If the watchdog is the only poller (MARLINE_PROGRESS=strong), they do not.
uint64_t next_nap(uint64_t nap, int found) {
  constexpr uint64_t kMostPeriods = 16;
  const uint64_t period = static_cast<uint64_t>(options().watchdog) * 1000;
  if (found > 0 || !options().progress_points || !shares_cores()) return period;
  return std::min(2 * nap, kMostPeriods * period);
}

void watchdog_main(void*) {
  uint64_t nap = next_nap(0, 1);
  uint32_t seen = 0;
  for (;;) {
    // As in sched/idle.hpp: announced before the last look, so either the look sees the operation or the thread that
    // posts it sees the announcement; both seq_cst.
    g_watchdog_asleep.store(1, seq_cst);
    if (progress_operations() > 0) g_watchdog_asleep.store(0, relaxed);
    while (g_watchdog_asleep.load(acquire) != 0) {
      if (watchdog_ends()) return;
      futex_wait(g_watchdog_asleep, 1);
    }
    if (!progress_pending()) continue;
    futex_wait_for(g_watchdog_kept, g_watchdog_kept.load(relaxed), nap);
    uint32_t polls = g_polls.load(relaxed);
    nap = next_nap(nap, polls == seen ? poll(nullptr, false) : 0);
    seen = g_polls.load(relaxed);
  }
}

void start_watchdog() {
  if (options().watchdog == 0 || !options().progress_strong) return;
  {
    Guard<SpinLock> guard(g_watchdog_lock);
    if (g_watchdog_there) return;
    g_watchdog_there = true;
  }
  if (!thread_start_detached("marline/watch", watchdog_main, nullptr, options().fiber_stacksize)) {
    const Refusal why(errno, options().fiber_stacksize);
    warn("cannot start the watchdog thread: %s: a finished MPI call may go unnoticed while all threads compute; %s",
         why.cause(), why.help());
  }
}

// A forked child has neither the watchdog nor an idle poller. A new watchdog starts when operations become pending
// there. The role becomes free, and so do the locks: threads that do not exist in the child may have held them.
void after_fork_in_child() {
  const Worker* worker = acting_worker();
  if (worker == nullptr || !worker->context.in_hook) g_poll_lock.unlock();
  g_watchdog_lock.unlock();
  g_watchdog_there = false;
  g_watchdog_kept.store(worker != nullptr, relaxed);
  g_idle_poller.store(nullptr, relaxed);
  g_idle_heir.store(nullptr, relaxed);
}

}  // namespace

int progress_when_idle(Worker* worker) { return options().progress_idle ? poll(worker, false) : 0; }

void progress_paced(Worker* worker) {
  if (!options().progress_points || worker->poll_countdown-- != 0) return;
  worker->poll_countdown = kPollEvery - 1;
  uint64_t due = g_not_before.load(relaxed);
  if (due != 0 && nanoseconds_now() < due) return;
  poll(worker, true);
}

bool progress_take_idle_role(Worker* worker) {
  Worker* holder = g_idle_poller.load(relaxed);
  if (holder == worker) return true;
  return holder == nullptr && g_idle_poller.compare_exchange_strong(holder, worker, seq_cst, relaxed);
}

bool progress_drop_idle_role(Worker* worker) {
  if (g_idle_poller.load(relaxed) != worker) return false;
  g_idle_poller.store(nullptr, seq_cst);  // before the look at the sleepers
  if (!progress_pending()) return true;
  Worker* heir = g_idle_heir.exchange(nullptr, seq_cst);  // pairs with progress_wants_poller
  if (heir != nullptr && heir != worker) wake_worker(heir);
  return true;
}

// The poller may give the role up in a team that this worker is not in, as it leaves its last region. Either this
// worker sees that the role is free, or the poller sees this worker as the heir (both seq_cst) and wakes it.
bool progress_wants_poller(Worker* worker) {
  if (worker->context.called_back || progress_operations() <= 0 || !options().progress_idle) return false;
  if (g_idle_poller.load(seq_cst) == nullptr) return true;
  g_idle_heir.store(worker, seq_cst);
  return g_idle_poller.load(seq_cst) == nullptr;
}

void progress_keep_watchdog(bool keep) {
  {
    Guard<SpinLock> guard(g_watchdog_lock);
    g_watchdog_kept.store(keep, relaxed);
    if (keep || !g_watchdog_there) return;
  }
  futex_wake(g_watchdog_kept, 1);
  g_watchdog_asleep.store(0, release);  // pairs with the watchdog's loop
  futex_wake(g_watchdog_asleep, 1);
}

marline_hook* progress_register(const char* name, int (*poll)(void*), void* arg) {
  Guard<SpinLock> guard(g_poll_lock);
  static bool fork_handled = false;
  if (!fork_handled) fork_handled = pthread_atfork(nullptr, nullptr, after_fork_in_child) == 0;
  for (marline_hook& hook : g_hooks) {
    if (hook.poll != nullptr) continue;
    hook.name = name;
    hook.arg = arg;
    hook.pending.store(0, relaxed);
    hook.may_rest.store(false, relaxed);
    hook.poll = poll;
    return &hook;
  }
  return nullptr;
}

void progress_unregister(marline_hook* hook) {
  Guard<SpinLock> guard(g_poll_lock);  // so no poll is under way
  hook->poll = nullptr;
  g_conditions.fetch_sub(hook->pending.exchange(0, relaxed) * condition::kOperation, relaxed);
}

void progress_let_rest(marline_hook* hook) { hook->may_rest.store(true, relaxed); }

bool progress_may_rest() {
  for (const marline_hook& hook : g_hooks) {
    if (hook.pending.load(relaxed) > 0 && !hook.may_rest.load(relaxed)) return false;
  }
  return true;
}

void progress_add(marline_hook* hook, int n) {
  hook->pending.fetch_add(n, relaxed);
  bool first = condition::operations(g_conditions.fetch_add(n * condition::kOperation, seq_cst)) <= 0;
  if (n <= 0) return;
  if (Worker* poller = g_idle_poller.load(seq_cst)) wake_worker(poller);  // it may rest between two polls
  if (!first) return;
  Worker* worker = acting_worker();
  if (worker != nullptr && worker->member != nullptr) wake_one(worker->member->team);  // it may become the poller
  start_watchdog();
  if (g_watchdog_asleep.load(seq_cst) == 0) return;
  g_watchdog_asleep.store(0, release);  // pairs with the watchdog's loop
  futex_wake(g_watchdog_asleep, 1);
}

}  // namespace marline
