// SPDX-License-Identifier: Apache-2.0
//
// The lock that makes Clang's reducing target regions exclude each other.
#include "construct/sync/reducing_region.hpp"

#include "construct/sync/lock.hpp"
#include "sched/library_call.hpp"
#include "sched/team.hpp"

#include <pthread.h>

namespace marline {

namespace {

LockWord g_lock{0};
// The task that has the lock. relaxed everywhere: a task only compares this with itself, and only that task sets and
// clears it.
Atomic<const Task*> g_owner{nullptr};

bool g_handles_forks = false;  // guarded by the lock

// Run in the child process, which has only the thread that forked.
void after_fork() {
  const Task* owner = g_owner.load(relaxed);
  for (const Worker* worker : {this_worker_or_null(), library_caller()}) {  // the task may have called a library
    if (worker != nullptr && owner != nullptr && worker->task == owner) return;
  }
  g_owner.store(nullptr, relaxed);
  g_lock.store(0, relaxed);
}

}  // namespace

void reducing_region_begin() {
  const Task* task = this_worker()->task;
  if (g_owner.load(relaxed) == task) return;
  lock_acquire(g_lock);
  g_owner.store(task, relaxed);
  if (!g_handles_forks) pthread_atfork(nullptr, nullptr, after_fork);
  g_handles_forks = true;
}

void reducing_region_release(const Task* task) {
  if (g_owner.load(relaxed) != task) return;
  g_owner.store(nullptr, relaxed);
  lock_release(g_lock);
}

}  // namespace marline
