// SPDX-License-Identifier: Apache-2.0
//
// barrier, single, master, masked, critical, flush and atomic, as Clang calls them.
#include "abi/kmp/types.hpp"
#include "construct/parallel/masked.hpp"
#include "construct/sync/mutex.hpp"
#include "construct/workshare/single.hpp"
#include "exec/team/barrier.hpp"

namespace marline::kmp {

#pragma GCC visibility push(default)
extern "C" {

void __kmpc_barrier(Ident* where, int32_t) {
  team_barrier(this_worker(), barrier_kind(where), __builtin_return_address(0));
}

// A barrier that the primary thread leaves first, to run a block before the others go on: a second barrier holds them.
int32_t __kmpc_barrier_master(Ident*, int32_t) {
  team_barrier(this_worker(), tool::SyncRegion::kBarrierExplicit, __builtin_return_address(0));
  if (this_worker()->member->index == 0) return 1;
  team_barrier(this_worker(), tool::SyncRegion::kBarrierImplementation, __builtin_return_address(0));
  return 0;
}
void __kmpc_end_barrier_master(Ident*, int32_t) {
  team_barrier(this_worker(), tool::SyncRegion::kBarrierImplementation, __builtin_return_address(0));
}

// The same, but the other threads do not wait for the block.
int32_t __kmpc_barrier_master_nowait(Ident*, int32_t) {
  team_barrier(this_worker(), tool::SyncRegion::kBarrierExplicit, __builtin_return_address(0));
  return this_worker()->member->index == 0;
}

int32_t __kmpc_single(Ident*, int32_t) { return single_enter(this_worker(), SingleEnd::kReported); }
void __kmpc_end_single(Ident*, int32_t) { single_leave(this_worker()); }

void __kmpc_copyprivate(Ident*, int32_t, size_t, void* data, void (*copy)(void* to, void* from), int32_t ran_it) {
  if (ran_it) {
    single_publish(this_worker(), data);
  } else {
    void* from = single_receive(this_worker());
    copy(data, from);
  }
  single_end_copying(this_worker());
}

void* __kmpc_copyprivate_light(Ident*, int32_t, void* data) {
  if (data == nullptr) return single_receive(this_worker());
  single_publish(this_worker(), data);
  return nullptr;
}

int32_t __kmpc_master(Ident*, int32_t) { return masked_enter(this_worker(), 0); }
void __kmpc_end_master(Ident*, int32_t) { masked_leave(this_worker()); }
int32_t __kmpc_masked(Ident*, int32_t, int32_t filter) { return masked_enter(this_worker(), filter); }
void __kmpc_end_masked(Ident*, int32_t) { masked_leave(this_worker()); }

void __kmpc_critical(Ident*, int32_t, CriticalName* name) { mutex_acquire(lock_word(name), tool::Mutex::kCritical); }
void __kmpc_critical_with_hint(Ident*, int32_t, CriticalName* name, uint32_t hint) {
  mutex_acquire(lock_word(name), tool::Mutex::kCritical, hint);
}
void __kmpc_end_critical(Ident*, int32_t, CriticalName* name) {
  mutex_release(lock_word(name), tool::Mutex::kCritical);
}

void __kmpc_flush(Ident*) {
  fence_seq_cst();
  if (tool::on(tool::event::kFlush)) [[unlikely]] {
    tool::flush(&this_worker()->tool_view.data, __builtin_return_address(0));
  }
}

void __kmpc_atomic_start() { mutex_acquire(g_atomic_lock, tool::Mutex::kAtomic); }
void __kmpc_atomic_end() { mutex_release(g_atomic_lock, tool::Mutex::kAtomic); }

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::kmp
