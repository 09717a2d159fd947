// SPDX-License-Identifier: Apache-2.0
//
// Pools that threads share. The thread that holds a pool's lock is the pool's owner. A block is released without a
// lock, as by a thread that has no pool, and is used again when its pool runs short.
#include "base/memory/shared_pool.hpp"

#include <cstdint>
#include <cstring>

#include "base/hash.hpp"
#include "base/memory/slab.hpp"
#include "base/spin_lock.hpp"

namespace marline {
namespace {

struct alignas(kCacheLine) Shared {
  SpinLock lock;
  SlabPool* pool = nullptr;
};

constexpr size_t kPools = 16;  // with more threads, some share a pool, and wait for one another's allocations
Shared pools[kPools];

// The thread pointer is the address of the thread's control block, so it differs between threads.
Shared& pool_of_thread() { return pools[mix64(reinterpret_cast<uintptr_t>(__builtin_thread_pointer())) % kPools]; }

}  // namespace

void* shared_allocate(size_t bytes) {
  Shared& shared = pool_of_thread();
  Guard guard(shared.lock);
  if (shared.pool == nullptr) shared.pool = SlabPool::acquire();
  return shared.pool->allocate(bytes);
}

void* shared_allocate_zeroed(size_t bytes) { return std::memset(shared_allocate(bytes), 0, bytes); }

void shared_release(void* block) {
  if (block != nullptr) SlabPool::release(block, nullptr);
}

void shared_pools_lock_all() {
  for (Shared& shared : pools) shared.lock.lock();
}

void shared_pools_unlock_all() {
  for (Shared& shared : pools) shared.lock.unlock();
}

}  // namespace marline
