// SPDX-License-Identifier: Apache-2.0
//
// See the header.
#include "exec/blocked.hpp"

#include "sched/team.hpp"

#include <unistd.h>

namespace marline {

BlockedThread g_blocked_threads[kBlockedThreads];

namespace {

BlockedThread* slot_of(int32_t thread) {
  for (BlockedThread& slot : g_blocked_threads) {
    if (slot.thread.load(relaxed) == thread) return &slot;
  }
  return nullptr;
}

BlockedThread* claim_slot(int32_t thread) {
  for (BlockedThread& slot : g_blocked_threads) {
    int32_t expected = 0;
    if (slot.thread.load(relaxed) != 0) continue;
    // acquire pairs with the release of the slot's last owner: its last store to `depth` comes before ours.
    if (slot.thread.compare_exchange_strong(expected, thread, acquire, relaxed)) return &slot;
  }
  return nullptr;
}

void begin_on_foreign_thread(const marline_wait* wait) {
  auto thread = static_cast<int32_t>(gettid());
  BlockedThread* slot = slot_of(thread);
  if (slot == nullptr) {
    slot = claim_slot(thread);
    if (slot == nullptr) return;  // more threads than slots: this one is not shown
    slot->depth = 0;
  }
  if (slot->depth++ == 0) slot->wait.store(wait, relaxed);
}

void end_on_foreign_thread() {
  BlockedThread* slot = slot_of(static_cast<int32_t>(gettid()));
  if (slot == nullptr || --slot->depth > 0) return;
  slot->wait.store(nullptr, relaxed);
  slot->thread.store(0, release);  // pairs with claim_slot
}

}  // namespace

void block_begin(const marline_wait* wait) {
  Worker* worker = this_worker_or_null();
  if (worker == nullptr) return begin_on_foreign_thread(wait);
  if (worker->in_view.block_depth++ == 0) {
    worker->in_view.blocked = wait;
    ++worker->in_view.suspensions;
  }
}

void block_end() {
  Worker* worker = this_worker_or_null();
  if (worker == nullptr) return end_on_foreign_thread();
  if (--worker->in_view.block_depth == 0) worker->in_view.blocked = nullptr;
}

}  // namespace marline
