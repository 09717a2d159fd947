// SPDX-License-Identifier: Apache-2.0
//
// The slow paths of SlabPool: new slabs, large blocks, blocks of other owners, and blocks under a sanitizer.
#include "base/memory/slab.hpp"

#include <new>
#include <sys/mman.h>

#include "base/check.hpp"
#include "base/memory/memory_limit.hpp"
#include "base/sanitizer.hpp"
#include "base/spin_lock.hpp"

namespace marline {
namespace {

static_assert(SlabPool::kSlabBytes == kKeptUnit);

SlabPool* retired_pools = nullptr;  // linked by next_retired_; under g_slab_pools_lock
uint32_t pools_made = 0;            // under g_slab_pools_lock
// All pools, linked by made_before_; written under g_slab_pools_lock, read by any thread.
Atomic<SlabPool*> newest_pool{nullptr};

// Freed blocks of slabs under a sanitizer, of one size class, oldest first.
struct Quarantine {
  void* first = nullptr;
  void* last = nullptr;
  size_t bytes = 0;
};
constexpr size_t kQuarantineBytes = 16 * 1024 * 1024;
Quarantine quarantines[SlabPool::kClasses];  // under g_quarantine_lock

void* next_of(void* block) { return *static_cast<void**>(block); }

void join(Quarantine& quarantine, void* block, size_t bytes) {
  *static_cast<void**>(block) = nullptr;
  if (quarantine.last != nullptr) {
    *static_cast<void**>(quarantine.last) = block;
  } else {
    quarantine.first = block;
  }
  quarantine.last = block;
  quarantine.bytes += bytes;
}

// Takes the oldest block, if there are enough blocks.
void* leave(Quarantine& quarantine, size_t bytes) {
  if (quarantine.bytes < kQuarantineBytes) return nullptr;
  void* block = quarantine.first;
  quarantine.first = next_of(block);
  if (quarantine.first == nullptr) quarantine.last = nullptr;
  quarantine.bytes -= bytes;
  return block;
}

// Null: the system has no memory left, even after all mappings kept for large blocks were unmapped.
void* map(size_t bytes) {
  do {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED) return memory;
  } while (SlabPool::shrink(0));
  return nullptr;
}

// `bytes` (a multiple of the page size) at an address that is a multiple of a slab's size; 0: there is no memory. The
// kernel usually puts a mapping next to the last one, so that the plain attempt succeeds and neighbours merge into one
// mapping.
uintptr_t map_aligned(size_t bytes) {
  constexpr uintptr_t kMask = SlabPool::kSlabBytes - 1;
  const uintptr_t plain = reinterpret_cast<uintptr_t>(map(bytes));
  if ((plain & kMask) == 0) return plain;
  munmap(reinterpret_cast<void*>(plain), bytes);
  const uintptr_t wide = reinterpret_cast<uintptr_t>(map(bytes + SlabPool::kSlabBytes));
  if (wide == 0) return 0;
  const uintptr_t base = (wide + kMask) & ~kMask;
  if (base > wide) munmap(reinterpret_cast<void*>(wide), base - wide);
  const uintptr_t surplus = wide + SlabPool::kSlabBytes - base;
  if (surplus > 0) munmap(reinterpret_cast<void*>(base + bytes), surplus);
  return base;
}

// Maps `*bytes` bytes, or half of them, and so on down to `least`. If the system maps none of these sizes, takes
// `least` bytes from last_memory: memory of malloc, or else the memory that the runtime has reserved. 0: that fails,
// too.
uintptr_t find_aligned(size_t* bytes, size_t least) {
  for (; *bytes >= least; *bytes /= 2) {
    if (const uintptr_t base = map_aligned(*bytes)) return base;
  }
  *bytes = least;
  return reinterpret_cast<uintptr_t>(last_memory(least, SlabPool::kSlabBytes));
}

[[noreturn]] void out_of_memory(size_t bytes) {
  fatal(
      "no memory for %zu more bytes of task descriptors%s: raise the limit on memory, set a smaller OMP_NUM_THREADS or "
      "OMP_STACKSIZE, or create fewer tasks at a time",
      bytes, AddressSpaceText().c_str());
}

}  // namespace

// g_slab_pools_lock is taken once per thread; g_quarantine_lock for each block, but only in programs with a sanitizer.
SpinLock g_slab_pools_lock, g_quarantine_lock;

bool SlabPool::reserve(Place* place) {
  keep_memory_back();
  {
    Guard guard(g_slab_pools_lock);
    place->left = retired_pools;
    if (SlabPool* pool = retired_pools) {
      retired_pools = pool->next_retired_;
      pool->next_retired_ = nullptr;
      return true;
    }
  }
  place->bytes = 2 * kFirstChunkBytes;  // the pool itself, and the first chunk
  place->memory = find_aligned(&place->bytes, 2 * kSlabBytes);
  return place->memory != 0;
}

SlabPool* SlabPool::acquire(const Place& place) {
  if (place.left != nullptr) return place.left;
  static_assert(sizeof(SlabPool) <= kSlabBytes);
  SlabPool* pool = new (reinterpret_cast<void*>(place.memory)) SlabPool;
  pool->chunk_ = place.memory + kSlabBytes;
  pool->chunk_end_ = place.memory + place.bytes;
  pool->mapped_bytes_ = place.bytes - kSlabBytes;
  Guard guard(g_slab_pools_lock);
  pool->number_ = pools_made++;
  pool->made_before_ = newest_pool.load(relaxed);
  newest_pool.store(pool, std::memory_order_release);  // pairs with shrink
  return pool;
}

SlabPool* SlabPool::acquire() {
  Place place;
  if (!reserve(&place)) out_of_memory(2 * kSlabBytes);
  return acquire(place);
}

void SlabPool::retire() {
  flush_remote();
  Guard guard(g_slab_pools_lock);
  next_retired_ = retired_pools;
  retired_pools = this;
}

void* SlabPool::allocate_wide(size_t bytes) {
  if (bytes > kClassLimit) return allocate_large(bytes);
  return allocate_of_class(class_of(bytes), bytes);
}

void* SlabPool::allocate_slow(size_t bytes) {
  const unsigned size_class = class_of(bytes);
  if (watched()) [[unlikely]] {
    return allocate_watched(size_class);
  }
  FreeBlock* block;
  if (refill(size_class)) {
    block = free_[size_class];
    free_[size_class] = block->next;
  } else {
    block = cut(size_class);
  }
  ++used_[size_class];
  mark_used(block, bytes);
  return block;
}

bool SlabPool::watched() { return g_sanitized && !MARLINE_TSAN && !MARLINE_ASAN; }

void* SlabPool::allocate_watched(unsigned size_class) {
  const size_t bytes = class_bytes(size_class);
  void* block;
  {
    Guard guard(g_quarantine_lock);
    block = leave(quarantines[size_class], bytes);
  }
  if (block == nullptr) block = cut(size_class);
  slab_of(block)->payer->large_bytes_.fetch_add(bytes, relaxed);  // release_watched subtracts it again
  asan_unpoison(block, bytes);
  tsan_acquire(block);  // orders this after what happened to the block before it was freed
  return block;
}

void SlabPool::release_watched(FreeBlock* block, const Slab* slab) {
  const size_t bytes = class_bytes(slab->size_class);
  slab->payer->large_bytes_.fetch_sub(bytes, relaxed);  // pools are never unmapped
  tsan_release(block);
  asan_poison(block, bytes);
  Guard guard(g_quarantine_lock);
  join(quarantines[slab->size_class], block, bytes);
}

// Takes one returned block, and puts it into free_. Null: there is none.
SlabPool::FreeBlock* SlabPool::take_back_one() {
  if (pending_ == nullptr) pending_ = remote_.take_all();
  FreeBlock* block = pending_;
  if (block == nullptr) return nullptr;
  pending_ = block->next;
  const unsigned size_class = slab_of(block)->size_class;
  prefetch_block(pending_, size_class);  // probably of the same class
  --used_[size_class];
  push_free(block, size_class);
  return block;
}

void SlabPool::collect() {
  while (take_back_one() != nullptr) {
  }
}

size_t SlabPool::bytes_in_use() const {
  size_t bytes = large_bytes_in_use();
  for (unsigned c = 0; c < kClasses; ++c) bytes += used_[c] * class_bytes(c);
  return bytes;
}

// Takes blocks back until one of `size_class` is there, one by one: following the links waits for one cache line after
// the other, unless the next line was prefetched by the allocation before.
bool SlabPool::refill(unsigned size_class) {
  for (;;) {
    FreeBlock* block = take_back_one();
    if (block == nullptr) return false;
    if (slab_of(block)->size_class == size_class) return true;
  }
}

// A block that was never used. Cut one by one, so that only touched pages use memory.
SlabPool::FreeBlock* SlabPool::cut(unsigned size_class) {
  const size_t bytes = class_bytes(size_class);
  if (fresh_end_[size_class] - fresh_[size_class] < bytes) open_slab(size_class);
  FreeBlock* block = reinterpret_cast<FreeBlock*>(fresh_[size_class]);
  fresh_[size_class] += bytes;
  return block;
}

void SlabPool::open_slab(unsigned size_class) {
  if (chunk_ == chunk_end_) open_chunk();
  const uintptr_t base = chunk_;
  chunk_ += kSlabBytes;
  Slab* slab = new (slab_at(base)) Slab{watched() ? nullptr : this, size_class, kSlabBytes, this};
  fresh_[size_class] = reinterpret_cast<uintptr_t>(slab + 1);
  fresh_end_[size_class] = base + kSlabBytes;
  asan_poison(slab + 1, fresh_end_[size_class] - fresh_[size_class]);
}

void SlabPool::open_chunk() {
  size_t bytes = next_chunk_bytes_;
  chunk_ = find_aligned(&bytes, kSlabBytes);
  if (chunk_ == 0) out_of_memory(kSlabBytes);
  chunk_end_ = chunk_ + bytes;
  mapped_bytes_ += bytes;
  next_chunk_bytes_ = 2 * bytes < kChunkBytes ? 2 * bytes : kChunkBytes;
}

void* SlabPool::allocate_large(size_t bytes) {
  constexpr size_t kHeader = kColours * kCacheLine;  // room for the header at any colour
  if (bytes > SIZE_MAX / 2) fatal("a task with %zu bytes of private data was asked for", bytes);
  static_assert(LargeCache::kUnit == kSlabBytes);
  const size_t total = LargeCache::mapping_bytes(bytes + kHeader);  // the memory after the block is never touched
  auto base = reinterpret_cast<uintptr_t>(large_cache_.take(total));
  if (base == 0) base = map_aligned(total);
  if (base == 0) base = reinterpret_cast<uintptr_t>(kept_memory(total));
  if (base == 0) out_of_memory(total);
  Slab* slab = new (slab_at(base)) Slab{nullptr, kLarge, total, this};
  large_bytes_.fetch_add(total, relaxed);
  return slab + 1;
}

// Under a sanitizer, the mapping is not kept for the next block: an access to an ended task's data must stay
// detectable.
void SlabPool::release_large(Slab* slab) {
  auto* base = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(slab) & ~static_cast<uintptr_t>(kSlabBytes - 1));
  const size_t bytes = slab->bytes;
  SlabPool* payer = slab->payer;  // pools are never unmapped
  payer->large_bytes_.fetch_sub(bytes, relaxed);
  if (!watched() && !MARLINE_ASAN && payer->large_cache_.put(base, bytes)) return;
  munmap(base, bytes);
}

bool SlabPool::shrink(size_t most) {
  if (LargeCache::cached_bytes() <= most) return false;
  for (SlabPool* pool = newest_pool.load(std::memory_order_acquire); pool != nullptr;
       pool = pool->made_before_) {  // pairs with acquire
    const LargeCache::Mapping mapping = pool->large_cache_.evict();
    if (mapping.memory == nullptr) continue;
    munmap(mapping.memory, mapping.bytes);
    return true;
  }
  return false;
}

void SlabPool::lock_all() {
  for (SlabPool* pool = newest_pool.load(relaxed); pool != nullptr; pool = pool->made_before_) {
    pool->large_cache_.lock().lock();
  }
}

void SlabPool::unlock_all() {
  for (SlabPool* pool = newest_pool.load(relaxed); pool != nullptr; pool = pool->made_before_) {
    pool->large_cache_.lock().unlock();
  }
}

size_t SlabPool::large_bytes(const Slab* slab) {
  const uintptr_t base = reinterpret_cast<uintptr_t>(slab) & ~static_cast<uintptr_t>(kSlabBytes - 1);
  return base + slab->bytes - reinterpret_cast<uintptr_t>(slab + 1);
}

void SlabPool::release_slow(FreeBlock* block, Slab* slab, SlabPool* mine) {
  SlabPool* owner = slab->owner;
  if (owner == nullptr) {
    if (slab->size_class != kLarge) return release_watched(block, slab);
    return release_large(slab);
  }
  mark_free(block, slab->size_class);
  if (mine == nullptr) {
    owner->remote_.push(block);
    return;
  }
  Batch& batch = mine->batches_[owner->number_ % kBatches];
  if (batch.owner != owner) {
    if (batch.count > 0) mine->send(batch);
    batch.owner = owner;
  }
  block->next = batch.first;
  if (batch.count == 0) batch.last = block;
  batch.first = block;
  if (++batch.count == kBatchBlocks) mine->send(batch);
}

void SlabPool::send(Batch& batch) {
  batch.owner->remote_.push_chain(batch.first, batch.last);
  batch.first = nullptr;
  batch.last = nullptr;
  batch.count = 0;
}

void SlabPool::flush_remote() {
  for (Batch& batch : batches_) {
    if (batch.count > 0) send(batch);
  }
}

}  // namespace marline
