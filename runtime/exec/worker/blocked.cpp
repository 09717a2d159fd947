// SPDX-License-Identifier: Apache-2.0
//
// Keeps the records of threads that block inside library calls.
#include "exec/worker/blocked.hpp"

#include "../common/thread_id.h"
#include "sched/team.hpp"

#include <unistd.h>

namespace marline {

BlockedThread g_blocked_threads[kBlockedThreads];

namespace {

// The calling thread's number, and the slot that it had last. The thread runs no task, so it stays on its own stack.
[[gnu::tls_model("initial-exec")]] thread_local int32_t t_number;
[[gnu::tls_model("initial-exec")]] thread_local BlockedThread* t_slot;

int32_t own_number() {
  if (t_number == 0) t_number = thread_id();
  return t_number;
}

bool claim(BlockedThread& slot, int32_t thread) {
  int32_t expected = 0;
  // acquire pairs with the release of the slot's last owner: its last store to `depth` comes before ours.
  return slot.thread.load(relaxed) == 0 && slot.thread.compare_exchange_strong(expected, thread, acquire, relaxed);
}

BlockedThread* claim_slot(int32_t thread) {
  if (t_slot != nullptr && claim(*t_slot, thread)) return t_slot;
  for (BlockedThread& slot : g_blocked_threads) {
    if (claim(slot, thread)) return t_slot = &slot;
  }
  return nullptr;
}

bool holds_slot() { return t_slot != nullptr && t_slot->thread.load(relaxed) == own_number(); }

// Not inlined, as the function after it: workers save no registers for other threads' slots.
[[gnu::noinline]] void begin_on_foreign_thread(const marline_wait* wait) {
  if (!holds_slot()) {
    if (claim_slot(own_number()) == nullptr) return;  // more threads than slots: this one is not shown
    t_slot->depth = 0;
  }
  if (t_slot->depth++ == 0) t_slot->wait.store(wait, relaxed);
}

[[gnu::noinline]] void end_on_foreign_thread() {
  if (!holds_slot() || --t_slot->depth > 0) return;
  t_slot->wait.store(nullptr, relaxed);
  t_slot->thread.store(0, release);  // pairs with claim
}

}  // namespace

void block_begin(const marline_wait* wait) {
  Worker* worker = this_worker_or_null();
  if (worker == nullptr) return begin_on_foreign_thread(wait);
  if (worker->shown_state.block_depth++ == 0) {
    worker->shown_state.blocked = wait;
    ++worker->shown_state.suspensions;
  }
}

void block_end() {
  Worker* worker = this_worker_or_null();
  if (worker == nullptr) return end_on_foreign_thread();
  if (--worker->shown_state.block_depth == 0) worker->shown_state.blocked = nullptr;
}

void blocked_after_fork() {
  t_number = 0;
  for (BlockedThread& slot : g_blocked_threads) {
    slot.wait.store(nullptr, relaxed);
    slot.thread.store(0, relaxed);
  }
}

}  // namespace marline
