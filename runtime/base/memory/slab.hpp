// SPDX-License-Identifier: Apache-2.0
//
// Memory for task descriptors. A SlabPool belongs to one worker, its owner, and only the owner allocates from it. Any
// thread may release a block, and the block then returns to the pool that it came from. Blocks of one size class are
// cut from slabs of 64 KiB at 64 KiB-aligned addresses. A slab's header names the owner, so a block's address leads to
// its pool.
//
//   owner, allocate        pops from free_[class]; if it is empty, takes blocks from pending_, which has the blocks
//                          that remote_ held when it was last taken, with one exchange; otherwise cuts a new block
//   owner, release         pushes on free_[class]
//   another worker         collects blocks of one owner and pushes the chain on the owner's remote_ with one CAS. The
//                          number of collected blocks is bounded (kBatches x kBatchBlocks); flush_remote sends them all
//   a thread without pool  pushes the block on the owner's remote_
//
// If the program has a sanitizer and this library was built without it, the sanitizer treats an ended task's block like
// any memory of the program. Then slabs have no owner, all operations take the slow paths, and a freed block waits in a
// common quarantine until there are many blocks. So an access to an ended task's data is reported, and an access to a
// new task's data is not taken for one.
//
// Invariant: a free block is in exactly one of these: free_[class] or pending_ (used by the owner), a batch (used by
// the releasing worker), remote_ (any thread may push, only the owner takes). Slabs are never unmapped. If a worker
// ends, its pool keeps its blocks, also blocks in use, and waits in a list for the next worker that starts.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "base/atomic.hpp"
#include "base/build.hpp"
#include "base/intrusive.hpp"
#include "base/memory/large_cache.hpp"
#include "base/memory/prefetch.hpp"
#include "base/spin_lock.hpp"

#if MARLINE_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace marline {

// Guard the list of pools without an owner, and the blocks in quarantine. Held across fork.
extern SpinLock g_slab_pools_lock, g_quarantine_lock;

class SlabPool {
 public:
  static constexpr size_t kStep = 64;  // blocks are aligned to this
  // Size classes in steps of kStep up to here,
  static constexpr size_t kStepLimit = 512;
  // then two classes per power of two up to here; a larger block is a mapping of its own, which is kept for the next
  // block (base/memory/large_cache.hpp).
  static constexpr size_t kClassLimit = 16384;
  static constexpr unsigned kClasses = 18;
  static constexpr size_t kSlabBytes = 64 * 1024;

  // Memory for a pool, allocated before its thread is started: a pool that an ended worker has left, or memory for a
  // new pool and its first blocks. The owner is the first thread to touch that memory.
  struct Place {
    SlabPool* left = nullptr;
    uintptr_t memory = 0;
    size_t bytes = 0;
  };

  // False: no memory is left.
  [[nodiscard]] static bool reserve(Place* place);

  // Makes the calling thread the owner of the pool at that place.
  static SlabPool* acquire(const Place& place);
  static SlabPool* acquire();

  // Gives up the pool; blocks of it may still be in use. The owner's last call.
  void retire();

  // At least `bytes` bytes, aligned to 64. Never null. Owner only.
  void* allocate(size_t bytes) {
    if (bytes > kStepLimit) [[unlikely]] {
      return allocate_wide(bytes);
    }
    return allocate_of_class(step_class_of(bytes), bytes);
  }

  // The same, or null if no block of that size is in the list of free ones.
  void* allocate_quickly(size_t bytes) {
    const unsigned size_class = step_class_of(bytes);
    if (bytes > kStepLimit || free_[size_class] == nullptr) [[unlikely]] {
      return nullptr;
    }
    return allocate_of_class(size_class, bytes);
  }

  // Frees `block`. `mine`: the pool that the calling thread owns, or null if it owns none.
  static void release(void* block, SlabPool* mine) {
    Slab* slab = slab_of(block);
    if (slab->owner == mine && mine != nullptr) [[likely]] {
      --mine->used_[slab->size_class];
      mine->push_free(static_cast<FreeBlock*>(block), slab->size_class);
    } else {
      release_slow(static_cast<FreeBlock*>(block), slab, mine);
    }
  }

  // Frees the block if it is of this pool; false: it is not. Owner only.
  [[nodiscard]] bool takes_back(void* block) {
    const Slab* slab = slab_of(block);
    if (slab->owner != this) return false;
    --used_[slab->size_class];
    push_free(static_cast<FreeBlock*>(block), slab->size_class);
    return true;
  }

  // The usable bytes of a block, at least the requested number.
  static size_t usable_bytes(const void* block) {
    const Slab* slab = slab_of(const_cast<void*>(block));
    return slab->size_class != kLarge ? class_bytes(slab->size_class) : large_bytes(slab);
  }

  // Sends other owners' blocks that this worker has collected. Owner only; a worker calls it before it sleeps.
  void flush_remote();

  // The usable size of a block that allocate(bytes) returns.
  static constexpr size_t block_bytes(size_t bytes) {
    return bytes <= kClassLimit ? class_bytes(class_of(bytes)) : bytes;
  }

  // For debuggers (common/ompd_layout.hpp): how to find the size of a block in memory.
  template <class SlabLayout>
  static constexpr SlabLayout layout() {
    SlabLayout result{.bytes = kSlabBytes,
                      .colours = kColours,
                      .line = kCacheLine,
                      .size_class = {offsetof(Slab, size_class), sizeof(Slab::size_class)},
                      .class_bytes = {}};
    static_assert(std::size(result.class_bytes) == kClasses);
    for (unsigned i = 0; i < kClasses; ++i) result.class_bytes[i] = static_cast<uint16_t>(class_bytes(i));
    return result;
  }

  // Bytes that this pool has mapped for slabs so far. Owner only.
  [[nodiscard]] size_t mapped_bytes() const { return mapped_bytes_; }

  // Bytes of mappings for large blocks of this pool that are in use. Owner only.
  [[nodiscard]] size_t large_bytes_in_use() const { return large_bytes_.load(relaxed); }

  // Bytes of all blocks of this pool that are in use, or that other threads have released and the owner has not yet
  // taken back. Owner only.
  [[nodiscard]] size_t bytes_in_use() const;

  // Takes back all blocks that other threads have released. Owner only.
  void collect();

  // For a thread that has no work: unmaps one of the large mappings that the caches keep. False: the caches hold at
  // most `most` bytes. Thread-safe.
  static bool shrink(size_t most = LargeCache::kMostWhileIdle);

  // Held across fork, taken after g_slab_pools_lock: the locks of all pools' large caches.
  static void lock_all();
  static void unlock_all();

 private:
  struct FreeBlock {
    FreeBlock* next;
  };
  using RemoteStack = MpscStack<FreeBlock, &FreeBlock::next>;

  struct alignas(kCacheLine) Slab {
    // Null: the slab of a large block, or a slab under a sanitizer.
    SlabPool* owner;
    // kLarge: a mapping of `bytes` bytes for one block.
    uint32_t size_class;
    size_t bytes;
    // For a slab without an owner: the pool that allocated the block, and counts it in large_bytes_.
    SlabPool* payer;
  };

  struct Batch {
    SlabPool* owner = nullptr;
    FreeBlock* first = nullptr;
    FreeBlock* last = nullptr;
    uint32_t count = 0;
  };

  static constexpr uint32_t kLarge = kClasses;
  static constexpr unsigned kBatches = 4;
  static constexpr unsigned kBatchBlocks = 32;
  static constexpr unsigned kColours = 16;
  // Doubled for each chunk, up to kChunkBytes.
  static constexpr size_t kFirstChunkBytes = 2 * kSlabBytes;
  static constexpr size_t kChunkBytes = 1024 * 1024;

  SlabPool() = default;

  static constexpr unsigned step_class_of(size_t bytes) {
    return static_cast<unsigned>((bytes + kStep - 1 + (bytes == 0)) / kStep - 1);
  }

  static constexpr unsigned class_of(size_t bytes) {
    if (bytes <= kStepLimit) return step_class_of(bytes);
    const size_t last = bytes - 1;
    const unsigned width = static_cast<unsigned>(std::bit_width(last));
    return 8 + (width - 10) * 2 + static_cast<unsigned>((last >> (width - 2)) & 1);
  }

  static constexpr size_t class_bytes(unsigned size_class) {
    if (size_class < 8) return (size_class + 1) * kStep;
    const size_t base = kStepLimit << ((size_class - 8) / 2);
    return base + base / 2 * (1 + (size_class - 8) % 2);
  }

  // Headers at the same offset of every slab would share few cache sets, so the offset depends on the slab's own
  // address.
  static Slab* slab_at(uintptr_t base) {
    return reinterpret_cast<Slab*>(base + (base / kSlabBytes % kColours) * kCacheLine);
  }
  static Slab* slab_of(void* block) {
    return slab_at(reinterpret_cast<uintptr_t>(block) & ~static_cast<uintptr_t>(kSlabBytes - 1));
  }

  // Prefetches the cache lines of the next block to be allocated, which may be in the cache of the core that used it
  // last. A task descriptor usually takes four lines, and five with arguments or edges. So four lines are always
  // prefetched, as few blocks are shorter, and a fifth one only if the block has it: otherwise that line belongs to
  // another task. Does nothing for null: a prefetch of an address that is not mapped walks the page tables each time.
  static void prefetch_block(const FreeBlock* block, unsigned size_class) {
    if (block == nullptr) return;
    const char* line = reinterpret_cast<const char*>(block);
    prefetch_for_write(line);
    prefetch_for_write(line + kStep);
    prefetch_for_write(line + 2 * kStep);
    prefetch_for_write(line + 3 * kStep);
    if (size_class >= 4) prefetch_for_write(line + 4 * kStep);
  }

  // Under AddressSanitizer a free block is poisoned, except for its link.
  static void mark_used([[maybe_unused]] void* block, [[maybe_unused]] size_t bytes) {
#if MARLINE_ASAN
    ASAN_UNPOISON_MEMORY_REGION(block, block_bytes(bytes));
#endif
  }
  static void mark_free([[maybe_unused]] FreeBlock* block, [[maybe_unused]] unsigned size_class) {
#if MARLINE_ASAN
    ASAN_POISON_MEMORY_REGION(block, class_bytes(size_class));
    ASAN_UNPOISON_MEMORY_REGION(block, sizeof(FreeBlock));
#endif
  }

  void push_free(FreeBlock* block, unsigned size_class) {
    mark_free(block, size_class);
    block->next = free_[size_class];
    free_[size_class] = block;
  }

  [[gnu::always_inline]] void* allocate_of_class(unsigned size_class, size_t bytes) {
    FreeBlock* block = free_[size_class];
    if (block == nullptr) [[unlikely]] {
      return allocate_slow(bytes);
    }
    free_[size_class] = block->next;
    prefetch_block(block->next, size_class);
    ++used_[size_class];
    mark_used(block, bytes);
    return block;
  }

  void* allocate_wide(size_t bytes);
  void* allocate_slow(size_t bytes);
  void* allocate_large(size_t bytes);
  static void release_large(Slab* slab);
  static size_t large_bytes(const Slab* slab);
  static bool watched();
  void* allocate_watched(unsigned size_class);
  static void release_watched(FreeBlock* block, const Slab* slab);
  static void release_slow(FreeBlock* block, Slab* slab, SlabPool* mine);
  bool refill(unsigned size_class);
  FreeBlock* take_back_one();
  FreeBlock* cut(unsigned size_class);
  void open_slab(unsigned size_class);
  void open_chunk();
  void send(Batch& batch);

  // Only the owner's.
  FreeBlock* free_[kClasses] = {};
  FreeBlock* pending_ = nullptr;    // taken back from remote_, classes mixed, not yet sorted into free_
  uint32_t used_[kClasses] = {};    // blocks in use; 2^32 of the smallest are 256 GiB
  uintptr_t fresh_[kClasses] = {};  // the uncut rest of the newest slab of each class: [fresh_, fresh_end_)
  uintptr_t fresh_end_[kClasses] = {};
  uintptr_t chunk_ = 0;  // mapped, but not yet slabs: [chunk_, chunk_end_)
  uintptr_t chunk_end_ = 0;
  size_t next_chunk_bytes_ = kFirstChunkBytes;
  size_t mapped_bytes_ = 0;
  Batch batches_[kBatches];  // by the number of their owner
  uint32_t number_ = 0;
  SlabPool* next_retired_ = nullptr;
  SlabPool* made_before_ = nullptr;

  // For all threads: on its own line, so that releases do not slow the owner's fast path.
  alignas(kCacheLine) RemoteStack remote_;
  LargeCache large_cache_;  // any thread
  // Of blocks without an owner. This pool adds, releasers subtract; the owner reads.
  Atomic<size_t> large_bytes_{0};
};

}  // namespace marline
