// SPDX-License-Identifier: Apache-2.0
//
// Mappings of ended tasks' large blocks, kept for the next ones: to map, to touch for the first time and to unmap 24
// KiB costs 13 us. One cache per SlabPool, for the blocks that were asked of it: the creator of tasks finds again what
// others have released. Any thread may call anything; a lock of the cache's own is held for a few instructions, which
// is nothing beside the copying of what such a block holds.
//
// What all caches hold together is bounded (kMostCached, and a part of the limit on address space): beyond it `put`
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
  static constexpr size_t kMostCached = 256 << 20;   // of all caches
  static constexpr size_t kMostWhileIdle = 4 << 20;  // the same
  static constexpr size_t kShareOfLimit = 32;

  struct Mapping {
    void* memory;  // null: none
    size_t bytes;
  };

  // The size of the mapping for so many bytes: whole units, and a fourth of a power of two above 1 MiB, so that blocks
  // of about the same size find each other's.
  static size_t mapping_bytes(size_t bytes);

  // A mapping of exactly so many bytes, a result of mapping_bytes. Its memory is not zero.
  [[nodiscard]] void* take(size_t bytes);

  // False: it is not kept, and the caller's to unmap.
  [[nodiscard]] bool put(void* memory, size_t bytes);

  // Takes a mapping out, one of the largest, to be unmapped.
  [[nodiscard]] Mapping evict();

  // Bytes that all caches hold.
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
  Atomic<size_t> count_{0};  // mappings; written under the lock, read without it as a hint
};

}  // namespace marline
