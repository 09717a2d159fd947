// SPDX-License-Identifier: Apache-2.0
//
// barrier, single, critical and atomic, as GCC calls them.
#include "construct/sync/mutex.hpp"
#include "construct/workshare/single.hpp"
#include "exec/team/barrier.hpp"

namespace marline::gomp {

#pragma GCC visibility push(default)
extern "C" {

void GOMP_barrier() { team_barrier(this_worker(), tool::SyncRegion::kBarrierExplicit, __builtin_return_address(0)); }

bool GOMP_single_start() { return single_enter(this_worker(), SingleEnd::kUnreported); }

// Null for the thread that runs the block and then calls copy_end; the published data for the others.
void* GOMP_single_copy_start() {
  Worker* worker = this_worker();
  return single_enter(worker, SingleEnd::kUnreported) ? nullptr : single_receive(worker);
}

void GOMP_single_copy_end(void* data) { single_publish(this_worker(), data); }

void GOMP_critical_start() { mutex_acquire(g_unnamed_critical, tool::Mutex::kCritical); }
void GOMP_critical_end() { mutex_release(g_unnamed_critical, tool::Mutex::kCritical); }
void GOMP_critical_name_start(void** name) { mutex_acquire(lock_word(name), tool::Mutex::kCritical); }
void GOMP_critical_name_end(void** name) { mutex_release(lock_word(name), tool::Mutex::kCritical); }

void GOMP_atomic_start() { mutex_acquire(g_atomic_lock, tool::Mutex::kAtomic); }
void GOMP_atomic_end() { mutex_release(g_atomic_lock, tool::Mutex::kAtomic); }

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::gomp
