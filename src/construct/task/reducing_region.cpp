// SPDX-License-Identifier: Apache-2.0
//
// See the header.
#include "construct/task/reducing_region.hpp"

#include "construct/sync/lock.hpp"
#include "sched/team.hpp"

namespace marline {

namespace {

LockWord g_lock{0};
// Who has it. relaxed, everywhere: only its own task and those that this one waits for find in it what they look for, and
// it was written before these were created.
Atomic<const Task*> g_inside{nullptr};

bool is_inside(const Task* task) {
  const Task* inside = g_inside.load(relaxed);
  for (; task != nullptr && task != inside; task = task->parent) {}
  return task != nullptr;
}

}  // namespace

void reducing_region_begin() {
  const Task* task = this_worker()->task;
  if (is_inside(task)) return;
  lock_acquire(g_lock);
  g_inside.store(task, relaxed);
}

void reducing_region_end(const Task* task) {
  if (g_inside.load(relaxed) != task) return;
  g_inside.store(nullptr, relaxed);
  lock_release(g_lock);
}

}  // namespace marline
