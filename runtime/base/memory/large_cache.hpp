// SPDX-License-Identifier: Apache-2.0
//
// Keeps the mappings of ended tasks' large blocks for new blocks: mapping, first touch and unmapping of 24 KiB cost 13
// us. There is one cache per SlabPool, for the blocks allocated from this pool: so the creator of tasks reuses blocks
// that other threads have released. Any thread may call any function. The cache's own lock is held for a few
// instructions, which is little compared with copying the content of such a block.
//
// The total of all caches is limited (kMostCached, and a fraction of the limit on address space): above it `put`
// refuses. A worker without a region evicts all but kMostWhileIdle.
#pragma once

#include <cstddef>

#include "base/atomic.hpp"
#include "base/spin_lock.hpp"

namespace marline {

class LargeCache {
 public:
  static constexpr size_t kUnit = 64 * 1024;
  static constexpr size_t kLargest = 8 << 20;        // larger mappings are not kept
  static constexpr size_t kMostCached = 256 << 20;   // total of all caches
  static constexpr size_t kMostWhileIdle = 4 << 20;  // total of all caches
  static constexpr size_t kShareOfLimit = 32;

  struct Mapping {
    void* memory;  // null: none
    size_t bytes;
  };

  // The size of the mapping for so many bytes: whole units, and above 1 MiB a multiple of a fourth of a power of two,
  // so that blocks of similar size can use each other's mappings.
  static size_t mapping_bytes(size_t bytes);

  // A mapping of exactly `bytes`, which is a result of mapping_bytes; null: there is none. Its memory is not zeroed.
  [[nodiscard]] void* take(size_t bytes);

  // False: the mapping is not kept, and the caller must unmap it.
  [[nodiscard]] bool put(void* memory, size_t bytes);

  // Takes out one of the largest mappings, for the caller to unmap.
  [[nodiscard]] Mapping evict();

  // The total of all caches, in bytes.
  static size_t cached_bytes();

  SpinLock& lock() { return lock_; }  // held across fork

 private:
  struct Free {
    Free* next;
  };
  static constexpr unsigned kClasses = 28;  // 16 of one unit each, then four per power of two

  static unsigned class_of(size_t bytes);
  static size_t class_bytes(unsigned size_class);
  Free* pop(unsigned size_class);

  SpinLock lock_;
  Free* free_[kClasses] = {};
  Atomic<size_t> count_{0};  // number of mappings; written under the lock, read without it as a hint
};

}  // namespace marline
